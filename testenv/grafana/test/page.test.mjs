// Tests the page itself, with canned answers of Prometheus. The page must draw the data, and must report everything
// that it cannot draw: otherwise the tests of the real dashboards would prove nothing.
import assert from 'node:assert/strict';
import http from 'node:http';
import test, { after, before } from 'node:test';
import { serve } from '../server.mjs';
import { launch, open } from './browser.mjs';
import { fixtures } from './dashboards.mjs';

const series = (tool, value) => ({ metric: { job: 'j', tool }, value });
const matrix = (answer, { start, end, step }) => ({
  resultType: 'matrix',
  result: answer.map(({ metric, value }) => ({
    metric,
    values: Array.from({ length: (end - start) / step + 1 }, (_, i) => [Number(start) + i * Number(step), value]),
  })),
});
const answers = {
  range: [series('a', '0.25'), series('b', '0.5')],
  instant: [series('a', '0.25'), series('b', '0.5')],
  empty: [],
  nan: [series('a', 'NaN')],
};
const asked = [];

function answer(path, parameters) {
  if (path.endsWith('/series')) return { data: [{ job: 'j' }, { job: 'k.l' }] };
  const [name] = /^\w+/.exec(parameters.query);
  asked.push(parameters);
  if (name === 'histogram') return { data: { resultType: 'vector', result: [{ metric: {}, histogram: [0, {}] }] } };
  if (!(name in answers)) return { status: 'error', error: `${name} is refused` };
  if ('step' in parameters) return { data: matrix(answers[name], parameters) };
  return { data: { resultType: 'vector', result: answers[name].map(({ metric, value }) => ({ metric, value: [1e9, value] })) } };
}

let browser, fake, server;

before(async () => {
  fake = http.createServer(async (request, response) => {
    let body = '';
    for await (const part of request) body += part;
    response.end(JSON.stringify({ status: 'success', ...answer(request.url, Object.fromEntries(new URLSearchParams(body))) }));
  });
  await new Promise((listening) => fake.listen(0, '127.0.0.1', listening));
  server = await serve({ dashboards: fixtures, prometheus: `http://127.0.0.1:${fake.address().port}` });
  browser = await launch();
});

after(async () => {
  await browser?.close();
  await server?.close();
  fake?.close();
});

for (const theme of ['dark', 'light']) {
  test(`every kind of panel is drawn, ${theme}`, async () => {
    const opened = await open(browser, server.url, { dashboard: 'kinds', theme });
    const panel = Object.fromEntries(opened.panels.map((p) => [p.title, p]));
    assert.deepEqual(opened.complaints, []);
    assert.deepEqual(opened.panels.map((p) => [p.title, p.state, p.error]), [
      ['Duration of All', 'data', undefined], ['Share', 'data', undefined], ['Sizes', 'data', undefined], ['Rows', 'data', undefined],
      ['Words', 'data', undefined], ['Nothing', 'empty', undefined], ['Not a number', 'empty', undefined],
    ]);
    assert.deepEqual(panel['Duration of All'].legend, ['a', 'renamed'], 'the legend, with an override and a label that is not there');
    assert.ok(panel['Duration of All'].painted.includes('500 ms'), `want 500 ms at the axis, got ${panel['Duration of All'].painted}`);
    assert.ok(panel.Share.texts.includes('25') && panel.Share.texts.includes('%'), `want 25 %, got ${panel.Share.texts}`);
    assert.ok(panel.Sizes.texts.includes('B'), `want bytes, got ${panel.Sizes.texts}`);
    for (const want of ['Tool', 'Took', 'a', '250 ms']) {
      assert.ok(panel.Rows.texts.includes(want), `want ${want} in the table, got ${panel.Rows.texts}`);
    }
    assert.ok(!panel.Rows.texts.includes('Time'), 'the column that a transformation takes away');
    assert.ok(panel.Nothing.texts.includes('never happened'), panel.Nothing.texts);
    assert.ok(panel.Words.texts.includes('All'), panel.Words.texts);
    const [red] = await opened.page.$eval('[data-panel] section', (e) => getComputedStyle(e).backgroundColor.match(/\d+/g).map(Number));
    assert.equal(red > 128 ? 'light' : 'dark', theme, 'the panels, by their background');
    await opened.page.close();
  });
}

test('variables and macros are written into the query', async () => {
  asked.length = 0;
  const opened = await open(browser, server.url, { dashboard: 'kinds' });
  await opened.page.close();
  const { query, step } = asked.find((parameters) => parameters.query.startsWith('range'));
  assert.equal(query, 'range{job=~"(j|k\\\\.l)",group="$1"}[60s]');
  assert.equal(step, '15');
});

test('what cannot be drawn is an error', async () => {
  const opened = await open(browser, server.url, { dashboard: 'broken' });
  const want = {
    'unknown type': /panel type heatmap is not drawn/,
    'refused query': /refused is refused/,
    'unknown variable': /\$b: no such variable/,
    'unknown transformation': /does not have transformation organise/,
    'unknown property': /does not have property units/,
    'unknown matcher': /does not have matcher byNane/,
    'native histogram': /native histograms, which are not drawn/,
    'throws while drawn': /text of mode html is not drawn/,
  };
  assert.deepEqual(opened.panels.map((p) => p.title), Object.keys(want));
  for (const { title, state, error } of opened.panels) {
    assert.equal(state, 'error', title);
    assert.match(error, want[title], title);
  }
  await opened.page.close();
});

test('a dashboard that is not there is an error', async () => {
  await assert.rejects(open(browser, server.url, { dashboard: 'none' }), /ENOENT/);
});
