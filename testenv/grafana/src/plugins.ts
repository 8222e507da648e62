// Registers the parts that Grafana's own program registers when it starts, and that its npm packages do not register:
// the standard field properties, the transformations, and the defaults and custom field properties of each panel
// plugin.
import {
  booleanOverrideProcessor,
  dataLinksOverrideProcessor,
  displayNameOverrideProcessor,
  type Field,
  type FieldConfigPropertyItem,
  FieldColorModeId,
  FieldType,
  fieldMatchers,
  identityOverrideProcessor,
  locationUtil,
  numberOverrideProcessor,
  PanelPlugin,
  standardFieldConfigEditorRegistry,
  standardTransformers,
  standardTransformersRegistry,
  stringOverrideProcessor,
  ThresholdsMode,
  thresholdsOverrideProcessor,
  type TransformerRegistryItem,
  valueMappingsOverrideProcessor,
} from '@grafana/data';
import { defaultOptions as barGauge } from '@grafana/schema/dist/esm/raw/composable/bargauge/panelcfg/x/BarGaugePanelCfg_types.gen';
import { defaultOptions as stat } from '@grafana/schema/dist/esm/raw/composable/stat/panelcfg/x/StatPanelCfg_types.gen';
import {
  defaultOptions as table,
  type FieldConfig as TableField,
} from '@grafana/schema/dist/esm/raw/composable/table/panelcfg/x/TablePanelCfg_types.gen';
import type { FieldConfig as TimeSeriesField } from '@grafana/schema/dist/esm/raw/composable/timeseries/panelcfg/x/TimeSeriesPanelCfg_types.gen';
import type { Panel } from './dashboard';

type Property = FieldConfigPropertyItem;
const none = () => null;
const always = (_: Field) => true;
const isNumber = (field: Field) => field.type === FieldType.number;

const property = (id: string, process: Property['process'], shouldApply = always, defaultValue?: unknown): Property => ({
  id, path: id, name: id, editor: none, override: none, process, shouldApply, defaultValue,
});

const thresholds = {
  mode: ThresholdsMode.Absolute,
  steps: [{ value: -Infinity, color: 'green' }, { value: 80, color: 'red' }],
};

standardFieldConfigEditorRegistry.setInit(() => [
  property('unit', stringOverrideProcessor),
  property('min', numberOverrideProcessor, isNumber),
  property('max', numberOverrideProcessor, isNumber),
  property('fieldMinMax', booleanOverrideProcessor, isNumber),
  property('decimals', numberOverrideProcessor, isNumber),
  property('displayName', displayNameOverrideProcessor),
  property('color', identityOverrideProcessor),
  property('noValue', stringOverrideProcessor),
  property('links', dataLinksOverrideProcessor),
  property('mappings', valueMappingsOverrideProcessor, (field: Field) => field.type !== FieldType.time, []),
  property('thresholds', thresholdsOverrideProcessor, always, thresholds),
  property('filterable', booleanOverrideProcessor),
]);

standardTransformersRegistry.setInit(() => {
  const byID = new Map(Object.values(standardTransformers).map((t) => [t.id, t]));
  return [...byID.values()].map((t): TransformerRegistryItem => ({
    id: t.id, name: t.name, description: t.description, editor: none, imageDark: '', imageLight: '',
    transformation: async () => t,
  }));
});

locationUtil.initialize({
  config: { appSubUrl: '' } as Parameters<typeof locationUtil.initialize>[0]['config'],
  getVariablesUrlParams: () => ({}),
  getTimeRangeForUrl: () => ({ from: 'now-1h', to: 'now' }),
});

// Custom has a default, or undefined, for every property of T, so that tsc reports missing properties.
type Custom<T> = { [K in keyof Required<T>]: unknown };

const timeSeriesField: Custom<TimeSeriesField> = {
  axisBorderShow: false, axisCenteredZero: false, axisColorMode: 'text', axisGridShow: undefined, axisLabel: '',
  axisPlacement: 'auto', axisSoftMax: undefined, axisSoftMin: undefined, axisWidth: undefined, barAlignment: 0,
  barMaxWidth: undefined, barWidthFactor: 0.6, drawStyle: 'line', fillBelowTo: undefined, fillColor: undefined,
  fillOpacity: 0, gradientMode: 'none', hideFrom: { legend: false, tooltip: false, viz: false }, insertNulls: false,
  lineColor: undefined, lineInterpolation: 'linear', lineStyle: undefined, lineWidth: 1, pointColor: undefined,
  pointSize: 5, pointSymbol: undefined, scaleDistribution: { type: 'linear' }, showPoints: 'auto', showValues: false,
  spanNulls: false, stacking: { mode: 'none', group: 'A' }, thresholdsStyle: { mode: 'off' }, transform: undefined,
};

const tableField: Custom<TableField> = {
  align: 'auto', cellOptions: { type: 'auto' }, displayMode: undefined, filterable: false, footer: undefined,
  hideFrom: undefined, hideHeader: undefined, inspect: false, minWidth: undefined, sortable: undefined,
  styleField: undefined, tooltip: undefined, width: undefined, wrapHeaderText: undefined,
  wrapText: undefined,
};

function plugin(options: object, color: FieldColorModeId, custom: object = {}): PanelPlugin {
  return new PanelPlugin(null)
    .setPanelOptions((builder) => {
      for (const [path, defaultValue] of Object.entries(options)) {
        builder.addCustomEditor({ id: path, path, name: path, editor: none, defaultValue });
      }
    })
    .useFieldConfig({
      standardOptions: { color: { defaultValue: { mode: color } } },
      useCustomConfig: (builder) => {
        for (const [path, defaultValue] of Object.entries(custom)) builder.addCustomEditor(property(path, identityOverrideProcessor, always, defaultValue));
      },
    });
}

const reduceOptions = { values: false, calcs: ['lastNotNull'], fields: '' };
const legend = { showLegend: true, displayMode: 'list', placement: 'bottom', calcs: [] };

/** plugins has the defaults of every panel type that this page draws. */
export const plugins: Record<Panel['type'], PanelPlugin> = {
  timeseries: plugin({ legend }, FieldColorModeId.PaletteClassic, timeSeriesField),
  stat: plugin({ ...stat, reduceOptions, orientation: 'auto' }, FieldColorModeId.Thresholds),
  bargauge: plugin({ ...barGauge, reduceOptions, orientation: 'auto' }, FieldColorModeId.Thresholds),
  table: plugin(table, FieldColorModeId.Thresholds, tableField),
  text: plugin({ content: '', mode: 'markdown' }, FieldColorModeId.Thresholds),
};

/** unknown returns the matchers, properties and transformations that Grafana lacks and would silently ignore. */
export function unknown(panel: Panel): string[] {
  const registry = plugins[panel.type].fieldConfigRegistry;
  return [
    ...(panel.fieldConfig?.overrides ?? []).flatMap((rule) => [
      ...(fieldMatchers.getIfExists(rule.matcher.id) ? [] : [`matcher ${rule.matcher.id}`]),
      ...rule.properties.filter((p) => !registry.getIfExists(p.id)).map((p) => `property ${p.id}`),
    ]),
    ...(panel.transformations ?? [])
      .filter((t) => !standardTransformersRegistry.getIfExists(t.id))
      .map((t) => `transformation ${t.id}`),
  ];
}
