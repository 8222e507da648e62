// Draws one dashboard, /?dashboard=NAME, with Grafana's layout. Other parameters of the address, with the same meaning
// as in Grafana, are theme=light, from= and to= instead of the dashboard's own time range, and var-NAME= instead of the
// variable's chosen value. scrape= is the scrape interval of the data source.
//
// Every panel has the attribute data-state: loading, data, empty or error. In state error, data-error is the error's
// text.
import {
  applyFieldOverrides,
  createTheme,
  type DataFrame,
  type DataTransformerConfig,
  getPanelOptionsWithDefaults,
  getValueFormat,
  type GrafanaTheme2,
  rangeUtil,
  ThemeContext,
  type TimeRange,
  transformDataFrame,
} from '@grafana/data';
import { GlobalStyles, PanelChrome } from '@grafana/ui';
import { Component, type ReactNode, useEffect, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { lastValueFrom } from 'rxjs';
import { type Dashboard, type Panel, place } from './dashboard';
import { drawings, filled } from './panels';
import { plugins, unknown } from './plugins';
import { query, steps } from './prometheus';
import { interpolator, rawRange, resolve, type Variable } from './variables';

interface Page {
  dashboard: Dashboard;
  variables: Variable[];
  range: TimeRange;
  theme: GrafanaTheme2;
  scrape: string;
}

interface Result {
  state: 'loading' | 'data' | 'empty' | 'error';
  frames?: DataFrame[];
  notes?: string[];
  error?: string;
}

const columns = 24;
const rowHeight = 30;
const gap = 8;
const pageWidth = 1600;
const across = (w: number) => (w * (pageWidth - gap)) / columns - gap;
const down = (h: number) => h * (rowHeight + gap) - gap;

async function load(panel: Panel, page: Page): Promise<Result> {
  if (!(panel.type in drawings)) throw new Error(`panel type ${panel.type} is not drawn`);
  if (panel.repeat) throw new Error('a repeated panel is not drawn');
  const strange = unknown(panel);
  if (strange.length) throw new Error(`Grafana does not have ${strange.join(', ')}`);
  const targets = (panel.targets ?? []).filter((target) => !target.hide);
  const points = panel.maxDataPoints ?? Math.floor(across(panel.gridPos!.w));
  const answers = await Promise.all(
    targets.map((target) => {
      const least = interpolator(page.variables, {}, true)(target.interval ?? panel.interval ?? '');
      const { step, macros } = steps(page.range, points, page.scrape, least);
      return query(target, page.range, step, targets.length === 1, interpolator(page.variables, macros, true));
    })
  );
  const inText = interpolator(page.variables, {}, false);
  const raw = answers.flatMap((answer) => answer.frames);
  const transformed = await lastValueFrom(transformDataFrame((panel.transformations ?? []) as DataTransformerConfig[], raw, { interpolate: inText }));
  const plugin = plugins[panel.type];
  const frames = applyFieldOverrides({
    data: transformed,
    fieldConfig: settings(panel).fieldConfig,
    fieldConfigRegistry: plugin.fieldConfigRegistry,
    replaceVariables: inText,
    theme: page.theme,
    timeZone: 'utc',
  });
  return { state: filled(panel.type, frames) ? 'data' : 'empty', frames, notes: answers.flatMap((a) => a.notes) };
}

const settings = (panel: Panel) =>
  getPanelOptionsWithDefaults({
    plugin: plugins[panel.type],
    currentOptions: panel.options ?? {},
    currentFieldConfig: (panel.fieldConfig ?? { defaults: {}, overrides: [] }) as never,
    isAfterPluginChange: false,
  });

class Guard extends Component<{ failed: (error: unknown) => void; children: ReactNode }, { broken?: boolean }> {
  state: { broken?: boolean } = {};
  static getDerivedStateFromError = () => ({ broken: true });
  componentDidCatch = this.props.failed;
  render = () => (this.state.broken ? null : this.props.children);
}

function PanelView({ panel, y, page }: { panel: Panel; y: number; page: Page }) {
  const [result, setResult] = useState<Result>({ state: 'loading' });
  const failed = (error: unknown) => setResult({ state: 'error', error: String(error) });
  useEffect(() => void load(panel, page).then(setResult, failed), [panel, page]);

  const { w, h, x } = panel.gridPos!;
  const [width, height] = [across(w), down(h)];
  const inText = interpolator(page.variables, {}, false);
  const Draw = drawings[panel.type];
  return (
    <div
      style={{ position: 'absolute', left: x * ((pageWidth - gap) / columns) + gap, top: y * (rowHeight + gap), width, height }}
      data-panel={panel.id} data-title={inText(panel.title ?? '')} data-type={panel.type} data-state={result.state}
      data-error={result.error} data-notes={result.notes?.join('\n')}
    >
      <PanelChrome width={width} height={height} title={inText(panel.title ?? '')} description={panel.description}
        statusMessage={result.error} displayMode={panel.transparent ? 'transparent' : 'default'}>
        {(width, height) =>
          result.state === 'data' ? (
            <Guard failed={failed}>
              <Draw {...settings(panel)} {...{ width, height, inText }} frames={result.frames!} range={page.range} theme={page.theme} />
            </Guard>
          ) : (
            <div style={{ padding: 16, color: page.theme.colors.text.secondary }}>
              {result.error ?? (result.state === 'empty' ? (panel.fieldConfig?.defaults.noValue ?? 'No data') : '')}
            </div>
          )
        }
      </PanelChrome>
    </div>
  );
}

function DashboardView(page: Page) {
  const placed = place(page.dashboard);
  const height = Math.max(...placed.map(({ panel, y }) => y + panel.gridPos!.h)) * (rowHeight + gap);
  return (
    <ThemeContext.Provider value={page.theme}>
      <GlobalStyles />
      <div id="dashboard" style={{ width: pageWidth, background: page.theme.colors.background.canvas }}>
        <header style={{ padding: gap * 2, display: 'flex', gap: gap * 2, alignItems: 'baseline', flexWrap: 'wrap' }}>
          <h3 style={{ margin: 0 }}>{page.dashboard.title}</h3>
          {page.variables.map((v) => (
            <span key={v.name} data-variable={v.name} data-values={v.options.length} style={{ color: page.theme.colors.text.secondary }}>
              {v.name} = {interpolator([v], {}, false)(`$${v.name}`)}
            </span>
          ))}
        </header>
        <div style={{ position: 'relative', height }}>
          {placed.map(({ panel, y }) =>
            panel.type === 'row' ? (
              <h5 key={`row ${panel.id}`} style={{ position: 'absolute', left: gap, top: y * (rowHeight + gap), lineHeight: `${rowHeight}px` }}>
                {panel.title}
              </h5>
            ) : (
              <PanelView key={panel.id} {...{ panel, y, page }} />
            )
          )}
        </div>
      </div>
    </ThemeContext.Provider>
  );
}

async function start() {
  const asked = new URLSearchParams(location.search);
  const answer = await fetch(`/dashboards/${asked.get('dashboard')}.json`);
  if (!answer.ok) throw new Error(await answer.text());
  const dashboard: Dashboard = await answer.json();
  const range = rangeUtil.convertRawToRange(rawRange(dashboard.time, asked), 'utc');
  const variables = await resolve(dashboard.templating?.list ?? [], range, asked);
  const theme = createTheme({ colors: { mode: asked.get('theme') === 'light' ? 'light' : 'dark' } });
  createRoot(document.getElementById('root')!).render(
    <DashboardView {...{ dashboard, variables, range, theme }} scrape={asked.get('scrape') ?? '15s'} />
  );
}

// For the tests: suffixes returns the possible suffixes of a number in a unit.
Object.assign(window, {
  suffixes: (unit: string) =>
    [...new Set([0, ...Array.from({ length: 22 }, (_, i) => 10 ** (i - 9))].map((v) => getValueFormat(unit)(v).suffix?.trim() ?? ''))],
});

start().catch((error) => {
  document.body.dataset.error = String(error);
  document.body.append(String(error));
});
