// The type of a dashboard's file, made of Grafana's published types. tsc checks every dashboards/*.json against it.
import type * as schema from '@grafana/schema';
import type { Options as BarGaugeOptions } from '@grafana/schema/dist/esm/raw/composable/bargauge/panelcfg/x/BarGaugePanelCfg_types.gen';
import type { Options as StatOptions } from '@grafana/schema/dist/esm/raw/composable/stat/panelcfg/x/StatPanelCfg_types.gen';
import type {
  FieldConfig as TableField,
  Options as TableOptions,
} from '@grafana/schema/dist/esm/raw/composable/table/panelcfg/x/TablePanelCfg_types.gen';
import type { Options as TextOptions } from '@grafana/schema/dist/esm/raw/composable/text/panelcfg/x/TextPanelCfg_types.gen';
import type {
  FieldConfig as TimeSeriesField,
  Options as TimeSeriesOptions,
} from '@grafana/schema/dist/esm/raw/composable/timeseries/panelcfg/x/TimeSeriesPanelCfg_types.gen';

export type { Variable as VariableModel };

/** Target is a query in the form in which the Prometheus data source stores it. */
export interface Target {
  refId: string;
  datasource?: schema.DataSourceRef;
  editorMode?: 'code' | 'builder';
  exemplar?: boolean;
  expr: string;
  format?: 'time_series' | 'table' | 'heatmap';
  hide?: boolean;
  instant?: boolean;
  interval?: string;
  legendFormat?: string;
  range?: boolean;
}

type Unset<T> = T extends object ? { [K in keyof T]?: Unset<T[K]> } : T;

interface PanelOf<Type extends string, Options, Custom>
  extends Omit<schema.Panel, 'type' | 'options' | 'fieldConfig' | 'targets' | 'links'> {
  type: Type;
  // The links that Grafana writes for a panel; Grafana's types require the links of a dashboard here.
  links?: Array<{ title: string; url: string; targetBlank?: boolean }>;
  options?: Unset<Options>;
  fieldConfig?: {
    defaults: Omit<schema.FieldConfig, 'custom'> & { custom?: Unset<Custom> };
    overrides: NonNullable<schema.Panel['fieldConfig']>['overrides'];
  };
  targets?: Target[];
}

/** Panel is a panel of one of the types that this page draws. */
export type Panel =
  | PanelOf<'timeseries', TimeSeriesOptions, TimeSeriesField>
  | PanelOf<'stat', StatOptions, {}>
  | PanelOf<'bargauge', BarGaugeOptions, {}>
  | PanelOf<'table', TableOptions, TableField>
  | PanelOf<'text', TextOptions, {}>;

export interface Row extends Omit<schema.RowPanel, 'panels'> {
  panels: Panel[];
}

// Grafana writes two properties of a variable that its types lack: definition, the query in one line, and an empty
// current, which means that no value is chosen yet.
type Variable = Omit<schema.VariableModel, 'current'> & {
  current?: schema.VariableModel['current'] | Record<string, never>;
  definition?: string;
};

// Grafana's types lack the query of an annotation, and the properties that the Prometheus data source writes for the
// result.
type Annotation = Omit<schema.AnnotationQuery, 'target'> & {
  tagKeys?: string;
  target?: Target;
  textFormat?: string;
  titleFormat?: string;
  useValueForTime?: boolean;
};

export interface Dashboard extends Omit<schema.Dashboard, 'annotations' | 'panels' | 'templating'> {
  annotations?: { list?: Annotation[] };
  panels: Array<Panel | Row>;
  templating?: { list?: Variable[] };
}

/** Loose is T in the form of JSON: with the string values of an enum instead of its members. */
export type Loose<T> = T extends string
  ? T | `${T}`
  : T extends object
    ? { [K in keyof T]: Loose<T[K]> }
    : T;

export interface Placed {
  panel: Panel | Row;
  y: number;
}

/** place opens the collapsed rows and moves the panels below them down. */
export function place(dashboard: Dashboard): Placed[] {
  const placed: Placed[] = [];
  let moved = 0;
  for (const panel of [...dashboard.panels].sort((a, b) => a.gridPos!.y - b.gridPos!.y)) {
    placed.push({ panel, y: panel.gridPos!.y + moved });
    if (panel.type !== 'row' || !panel.panels.length) continue;
    const top = Math.min(...panel.panels.map((p) => p.gridPos!.y));
    for (const inner of panel.panels) {
      placed.push({ panel: inner, y: panel.gridPos!.y + moved + 1 + inner.gridPos!.y - top });
    }
    moved += Math.max(...panel.panels.map((p) => p.gridPos!.y + p.gridPos!.h)) - top;
  }
  return placed;
}
