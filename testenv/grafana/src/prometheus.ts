// Implements the part of Grafana's Prometheus data source that these dashboards need. In Grafana, the data source runs
// in the server, so this part of the pipeline is our own code. It sends requests to our own server, which forwards them
// to Prometheus.
import {
  createDataFrame,
  type DataFrame,
  FieldType,
  type Labels,
  rangeUtil,
  type TimeRange,
} from '@grafana/data';
import type { Target } from './dashboard';
import type { Interpolate } from './variables';

interface Series {
  metric: Labels;
  values?: Array<[number, string]>;
  value?: [number, string];
}

export interface Answer {
  frames: DataFrame[];
  /** Warnings and remarks of Prometheus about the query. */
  notes: string[];
}

async function ask(path: string, parameters: Record<string, string>) {
  const answer = await fetch(`/prometheus/api/v1/${path}`, { method: 'POST', body: new URLSearchParams(parameters) });
  const body = await answer.json();
  if (body.status !== 'success') throw new Error(`${path}: ${answer.status} ${body.error} ${JSON.stringify(parameters)}`);
  return body;
}

export async function labelValues(label: string, selector: string | undefined, range: TimeRange): Promise<string[]> {
  const series = await ask('series', {
    'match[]': selector ?? `{${label}!=""}`,
    start: String(range.from.unix()),
    end: String(range.to.unix()),
  });
  return [...new Set<string>(series.data.flatMap((labels: Labels) => labels[label] ?? []))].sort();
}

const seconds = (text: string) => rangeUtil.intervalToSeconds(text);

/** steps returns the step of Grafana's queries in seconds, and the values of the macros that depend on the step. */
export function steps(range: TimeRange, points: number, scrape: string, least?: string) {
  const shortest = least ? seconds(least) : seconds(scrape);
  const step = Math.max(rangeUtil.calculateInterval(range, points).intervalMs / 1000, shortest, 1);
  const whole = Math.round((range.to.valueOf() - range.from.valueOf()) / 1000);
  const rate = Math.max(step + shortest, 4 * shortest);
  const macros: Record<string, string> = {
    __interval: `${step}s`, __interval_ms: `${step * 1000}`, __rate_interval: `${rate}s`, __rate_interval_ms: `${rate * 1000}`,
    __range: `${whole}s`, __range_s: `${whole}`, __range_ms: `${whole * 1000}`,
  };
  return { step, macros };
}

const number = (text: string) => (text === '+Inf' ? Infinity : text === '-Inf' ? -Infinity : Number(text));

// legendOf returns the legend that Grafana's server makes from the format. undefined means that the labels form the
// name.
function legendOf({ legendFormat, expr }: Target, { __name__ = '', ...labels }: Labels): string | undefined {
  if (legendFormat === '__auto' && (__name__ || Object.keys(labels).length)) return undefined;
  if (legendFormat && legendFormat !== '__auto') {
    return legendFormat.replace(/\{\{\s*(.+?)\s*\}\}/g, (_, label) => (label === '__name__' ? __name__ : labels[label]) ?? '');
  }
  const matchers = Object.entries(labels).sort().map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  return __name__ + (matchers.length ? `{${matchers.join(', ')}}` : '') || expr;
}

function frameOf(target: Target, series: Series, step: number): DataFrame {
  const points = series.values ?? [series.value!];
  const legend = legendOf(target, series.metric);
  return createDataFrame({
    refId: target.refId,
    name: legend,
    fields: [
      { name: 'Time', type: FieldType.time, values: points.map(([t]) => t * 1000), config: { interval: step * 1000 } },
      { name: 'Value', type: FieldType.number, values: points.map(([, v]) => number(v)), labels: series.metric, config: { displayNameFromDS: legend } },
    ],
  });
}

// tableOf puts all series of a query into one frame, with a column for each label.
function tableOf(target: Target, answer: Series[], alone: boolean): DataFrame {
  const rows = answer.flatMap(({ metric, values, value }) => (values ?? [value!]).map(([t, v]) => ({ metric, t, v })));
  const labels = [...new Set(answer.flatMap(({ metric }) => Object.keys(metric)))].sort();
  return createDataFrame({
    refId: target.refId,
    fields: [
      { name: 'Time', type: FieldType.time, values: rows.map(({ t }) => t * 1000) },
      ...labels.map((name) => ({ name, type: FieldType.string, values: rows.map(({ metric }) => metric[name] ?? '') })),
      { name: alone ? 'Value' : `Value #${target.refId}`, type: FieldType.number, values: rows.map(({ v }) => number(v)) },
    ],
  });
}

/** query runs one target over the range, or at its end if it is an instant query. */
export async function query(target: Target, range: TimeRange, step: number, alone: boolean, inQuery: Interpolate): Promise<Answer> {
  const asked = { query: inQuery(target.expr) };
  const [from, to] = [range.from, range.to].map((t) => Math.floor(t.unix() / step) * step);
  const body = target.instant
    ? await ask('query', { ...asked, time: String(range.to.unix()) })
    : await ask('query_range', { ...asked, start: String(from), end: String(to), step: String(step) });
  const { resultType, result } = body.data;
  const answer: Series[] = resultType === 'scalar' ? [{ metric: {}, value: result }] : result;
  if (answer.some((series) => 'histogram' in series || 'histograms' in series)) {
    throw new Error(`${asked.query}: gives native histograms, which are not drawn`);
  }
  const frames =
    target.format === 'table' && answer.length ? [tableOf(target, answer, alone)] : answer.map((series) => frameOf(target, series, step));
  return { frames, notes: [...(body.warnings ?? []), ...(body.infos ?? [])] };
}
