// Checks dashboards/*.json against Grafana's published types.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { complaints } from '../types.mjs';
import { directory, fixture, names } from './dashboards.mjs';

test('every dashboard has the shape that Grafana publishes', () => {
  assert.notEqual(names.length, 0, `dashboards in ${directory}`);
  const files = Object.fromEntries(names.map((name) => [name, readFileSync(path.join(directory, `${name}.json`), 'utf8')]));
  for (const [name, against] of Object.entries(complaints(files))) {
    assert.deepEqual(against, [], `${name}.json`);
  }
});

test('what Grafana does not have is refused', () => {
  const mistakes = {
    'a misspelt key': [(d) => (d.fiscalYearStartMoonth = 0), /'"fiscalYearStartMoonth"' does not exist/],
    'a misspelt option': [(d) => (d.panels[0].options.legend.showLegends = true), /'"showLegends"' does not exist/],
    'a misspelt field property': [(d) => (d.panels[0].fieldConfig.defaults.custom.lineWitdh = 1), /'"lineWitdh"' does not exist/],
    'a misspelt query property': [(d) => (d.panels[0].targets[0].legendFormats = ''), /'"legendFormats"' does not exist/],
    'a word that an enum lacks': [(d) => (d.panels[0].fieldConfig.defaults.thresholds.mode = 'relative'), /"relative"/],
    'a word that an option lacks': [(d) => (d.panels[0].options.legend.displayMode = 'tabel'), /"tabel"/],
    'a string for a number': [(d) => (d.panels[0].gridPos.w = '12'), /'string' is not assignable to type 'number'/],
    'a type of panel that the page does not draw': [(d) => (d.panels[0].type = 'heatmap'), /"heatmap"/],
  };
  const good = JSON.parse(readFileSync(fixture('kinds'), 'utf8'));
  const files = { good: JSON.stringify(good) };
  for (const [what, [make]] of Object.entries(mistakes)) {
    const bad = structuredClone(good);
    make(bad);
    files[what] = JSON.stringify(bad);
  }
  const found = complaints(files);
  assert.deepEqual(found.good, [], 'the dashboard without a mistake');
  for (const [what, [, message]] of Object.entries(mistakes)) {
    assert.match(found[what].join('\n'), message, what);
  }
});
