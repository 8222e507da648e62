// Draws every shipped dashboard with data from the Prometheus at PROMETHEUS_URL, which must have metrics of every kind
// of traffic (testenv/stack generates it). If PICTURES is set, the test writes a picture of each dashboard to this
// directory.
//
// QUERY contains further parameters of the page's address, such as from=now-15m&var-resolution=5s&scrape=5s. If
// PATIENCE is set, the test draws a dashboard again until it has no problems, for at most this number of seconds.
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import test, { after, before } from 'node:test';
import { serve } from '../server.mjs';
import { launch, open } from './browser.mjs';
import { directory, names } from './dashboards.mjs';

const { PROMETHEUS_URL: prometheus, PICTURES: pictures, QUERY = '', PATIENCE = '0' } = process.env;
const patience = Number(PATIENCE) * 1000; // for each dashboard
const query = Object.fromEntries(new URLSearchParams(QUERY));
// The reasons why a panel may have no data. The key is "dashboard: panel".
const mayBeEmpty = JSON.parse(readFileSync(new URL('../empty.json', import.meta.url), 'utf8'));
const panelsOf = (name) =>
  JSON.parse(readFileSync(path.join(directory, `${name}.json`), 'utf8')).panels.flatMap((p) => (p.type === 'row' ? (p.panels ?? []) : [p]));

let browser, server;

before(async () => {
  assert.ok(prometheus, 'PROMETHEUS_URL is not set: the address of a Prometheus that has the metrics');
  if (pictures) mkdirSync(pictures, { recursive: true });
  server = await serve({ dashboards: directory, prometheus });
  browser = await launch();
});

after(async () => {
  await browser?.close();
  await server?.close();
});

// wrongLegend returns the problem of a legend, or undefined.
function wrongLegend({ type, options }, { legend }) {
  if (type !== 'timeseries' || options?.legend?.showLegend === false || options?.legend?.displayMode === 'hidden') return;
  if (!legend.length) return 'no legend is drawn';
  const odd = legend.filter((name) => /[{}]/.test(name) || name === 'Value');
  if (odd.length) return `the legend says ${odd.join(', ')}`;
  const twice = legend.filter((name, i) => legend.indexOf(name) !== i);
  if (twice.length) return `several lines are called ${twice.join(', ')}`;
}

// units returns the units that must be visible: the unit of the panel, or in a table the units of its columns.
function units({ type, fieldConfig }) {
  const ofColumns = (fieldConfig?.overrides ?? []).flatMap((rule) => rule.properties.filter((p) => p.id === 'unit').map((p) => p.value));
  return type === 'table' ? ofColumns : [fieldConfig?.defaults.unit].filter(Boolean);
}

async function wrongOn(name, opened) {
  const models = new Map(panelsOf(name).map((model) => [String(model.id), model]));
  assert.equal(opened.panels.length, models.size, 'panels on the page');
  const problems = opened.variables.filter((v) => !v.values).map((v) => `variable ${v.name} has no values`);
  for (const seen of opened.panels) problems.push(...(await wrong(name, models.get(seen.panel), seen, opened)));
  return problems;
}

async function wrong(name, model, seen, opened) {
  const problems = [];
  const add = (what) => problems.push(`${seen.title}: ${what}`);
  if (seen.state === 'error') add(seen.error);
  if (seen.notes) add(`Prometheus remarks: ${seen.notes}`);
  if (seen.state === 'empty' && !(`${name}: ${seen.title}` in mayBeEmpty)) add('nothing to show');
  if (seen.state !== 'data') return problems;
  const legend = wrongLegend(model, seen);
  if (legend) add(legend);
  for (const unit of units(model)) {
    const suffixes = await opened.suffixes(unit);
    if (!suffixes.includes('') && !seen.texts.some((text) => suffixes.some((s) => text.endsWith(s)))) add(`nothing is in ${unit}: ${seen.texts.join(' | ')}`);
  }
  return problems;
}

// draw opens a dashboard in a theme, and returns its problems.
async function draw(name, theme, suffix) {
  const opened = await open(browser, server.url, { dashboard: name, ...query, theme });
  if (pictures) await opened.picture(path.join(pictures, `dashboards-${name}${suffix}.png`));
  const problems = [...opened.complaints, ...(await wrongOn(name, opened))];
  await opened.page.close();
  return problems;
}

for (const name of names) {
  test(`${name} is drawn, and every panel has something to show`, async () => {
    const deadline = Date.now() + patience;
    for (const [theme, suffix] of [['dark', ''], ['light', '-light']]) {
      let problems;
      do problems = await draw(name, theme, suffix);
      while (problems.length && Date.now() < deadline);
      assert.deepEqual(problems, [], `in the ${theme} theme`);
    }
  });
}

test('empty.json names panels that there are', () => {
  const all = names.flatMap((name) => panelsOf(name).map((panel) => `${name}: ${panel.title}`));
  assert.deepEqual(Object.keys(mayBeEmpty).filter((key) => !all.includes(key)), []);
});
