// Opens a dashboard in a browser and returns the visible contents of every panel.
import { chromium } from 'playwright-core';
import { fileURLToPath } from 'node:url';

const flags = [
  '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync',
];

const executablePath = fileURLToPath(new URL('../bin/chromium', import.meta.url));

/** launch starts the browser. Chromium sometimes crashes at its start; launch then starts it once more. */
export const launch = () =>
  chromium.launch({ executablePath, args: flags }).catch(() => chromium.launch({ executablePath, args: flags }));

// The texts of axes are painted and not in the document, so keepPainted records all painted texts in a property of the
// canvas.
function keepPainted() {
  const paint = CanvasRenderingContext2D.prototype.fillText;
  CanvasRenderingContext2D.prototype.fillText = function (text, ...where) {
    (this.canvas.painted ??= new Set()).add(String(text));
    return paint.call(this, text, ...where);
  };
}

function look() {
  return [...document.querySelectorAll('[data-panel]')].map((panel) => {
    const legend = [...panel.querySelectorAll('[data-testid="data-testid viz-layout-legend"] button')];
    const painted = [...panel.querySelectorAll('canvas')].flatMap((canvas) => [...(canvas.painted ?? [])]);
    const leaves = [...panel.querySelectorAll('section *')].filter((e) => !e.children.length).map((e) => e.textContent.trim());
    return { ...panel.dataset, canvases: panel.querySelectorAll('canvas').length, painted, texts: [...painted, ...leaves].filter(Boolean), legend: legend.map((e) => e.textContent.trim()).filter(Boolean) };
  });
}

/** open opens a dashboard in a new page. */
export async function open(browser, url, { dashboard, ...query }) {
  const page = await browser.newPage({ viewport: { width: 1600, height: 1000 }, deviceScaleFactor: 1 });
  const complaints = [];
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => message.type() === 'error' && complaints.push(`${message.text()} ${message.location().url}`));
  await page.addInitScript(keepPainted);
  await page.goto(`${url}/?${new URLSearchParams({ dashboard, ...query })}`);
  await page.waitForSelector('#dashboard, body[data-error]', { timeout: 60_000 });
  const failed = await page.getAttribute('body', 'data-error');
  if (failed) throw new Error(`${dashboard}: ${failed}`);
  const size = await page.locator('#dashboard').boundingBox();
  await page.setViewportSize({ width: 1600, height: Math.ceil(size.height) });
  await page.waitForFunction(
    () => {
      const panels = [...document.querySelectorAll('[data-panel]')];
      const drawn = (p) => p.dataset.state !== 'data' || p.dataset.type !== 'timeseries' || [...p.querySelectorAll('canvas')].some((c) => c.painted);
      return panels.every((p) => p.dataset.state !== 'loading' && drawn(p));
    },
    undefined,
    { timeout: 60_000 }
  );
  return {
    page,
    complaints,
    panels: await page.evaluate(look),
    variables: await page.$$eval('[data-variable]', (all) => all.map((v) => ({ name: v.dataset.variable, values: Number(v.dataset.values) }))),
    suffixes: (unit) => page.evaluate((u) => window.suffixes(u), unit),
    picture: (file) => page.locator('#dashboard').screenshot({ path: file, animations: 'disabled' }),
  };
}
