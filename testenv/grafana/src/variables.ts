// Finds the values of the dashboard's variables, with the same queries to Prometheus as Grafana, and inserts the values
// into queries and texts.
import { type RawTimeRange, stringToJsRegex, type TimeRange } from '@grafana/data';
import type { VariableModel } from './dashboard';
import { labelValues } from './prometheus';

export interface Variable {
  name: string;
  /** The possible values, without "All". */
  options: string[];
  chosen: string[];
  all: boolean;
  allValue?: string;
  many: boolean;
}

export type Interpolate = (text: string) => string;

const escape = (value: string) => value.replace(/\\/g, '\\\\\\\\').replace(/[$^*{}[\]'+?.()|]/g, '\\\\$&');

// inQuery returns the value of a variable in the form in which Grafana's Prometheus data source writes it into a
// matcher.
function inQuery(v: Variable): string {
  if (v.all && v.allValue) return v.allValue;
  if (!v.many) return v.chosen.join('').replace(/\\/g, '\\\\').replace(/"/g, '\\"');
  const values = v.chosen.map(escape);
  return values.length === 1 ? values[0] : `(${values.join('|')})`;
}

/**
 * interpolator returns a function that inserts variables and macros into a text. In a query, any other name is an
 * error. $1 is not a name: label_replace uses it for a group.
 */
export function interpolator(variables: Variable[], macros: Record<string, string>, forQuery: boolean): Interpolate {
  const values = new Map(Object.entries(macros));
  for (const v of variables) values.set(v.name, forQuery ? inQuery(v) : v.all ? 'All' : v.chosen.join(' + '));
  return (text) =>
    text.replace(/\$([a-zA-Z_]\w*)|\$\{(\w+)(:\w+)?\}|\[\[(\w+)\]\]/g, (match, plain, braced, format, old) => {
      const name = plain ?? braced ?? old;
      if (format && format !== ':text' && format !== ':queryparam') throw new Error(`${match}: this format is not drawn`);
      const value = values.get(name);
      if (value !== undefined) return value;
      if (forQuery) throw new Error(`${match}: no such variable`);
      return match;
    });
}

async function optionsOf(model: VariableModel, before: Variable[], range: TimeRange): Promise<string[]> {
  const query = typeof model.query === 'string' ? model.query : String(model.query?.query ?? '');
  switch (model.type) {
    case 'datasource':
      return ['the Prometheus asked'];
    case 'custom':
    case 'interval':
      return query.split(',').map((word) => word.trim());
    case 'constant':
    case 'textbox':
      return [query];
    case 'query': {
      const [, selector, label] = /^label_values\((?:(.+),)?\s*([a-zA-Z_]\w*)\)$/.exec(query.trim()) ?? [];
      if (!label) throw new Error(`variable ${model.name}: ${query} is not label_values(…)`);
      const values = await labelValues(label, selector && interpolator(before, {}, true)(selector), range);
      const regex = model.regex ? stringToJsRegex(model.regex) : undefined;
      return regex ? values.flatMap((v) => { const m = regex.exec(v); return m ? [m[1] ?? m[0]] : []; }) : values;
    }
    default:
      throw new Error(`variable ${model.name}: type ${model.type} is not drawn`);
  }
}

/** resolve gives every variable the value in the address, or else the value with which Grafana would open the page. */
export async function resolve(models: VariableModel[], range: TimeRange, asked: URLSearchParams): Promise<Variable[]> {
  const variables: Variable[] = [];
  for (const model of models) {
    const options = await optionsOf(model, variables, range);
    const wanted = asked.has(`var-${model.name}`) ? asked.getAll(`var-${model.name}`) : [model.current?.value ?? []].flat();
    const known = wanted.filter((value) => options.includes(value));
    const all = Boolean(model.includeAll) && !known.length;
    variables.push({
      name: model.name,
      options,
      chosen: all ? options : known.length ? known : options.slice(0, 1),
      all,
      allValue: model.allValue ?? undefined,
      many: Boolean(model.multi || model.includeAll),
    });
  }
  return variables;
}

export function rawRange(time: { from?: string; to?: string } | undefined, asked: URLSearchParams): RawTimeRange {
  return { from: asked.get('from') ?? time?.from ?? 'now-6h', to: asked.get('to') ?? time?.to ?? 'now' };
}
