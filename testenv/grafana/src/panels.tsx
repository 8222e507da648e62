// Draws each type of panel with Grafana's component, which gets the same properties as from Grafana's panel plugin.
import {
  cacheFieldDisplayNames,
  type DataFrame,
  type DisplayValueAlignmentFactors,
  type FieldConfigSource,
  type FieldDisplay,
  FieldType,
  getDisplayValueAlignmentFactors,
  getFieldDisplayValues,
  type GrafanaTheme2,
  renderTextPanelMarkdown,
  type TimeRange,
  VizOrientation,
} from '@grafana/data';
import { BarGauge, BigValue, RenderUserContentAsHTML, TimeSeries, VizRepeater, type VizRepeaterRenderValueProps } from '@grafana/ui';
import { TableNG } from '@grafana/ui/unstable';
import type { ComponentType } from 'react';
import type { Panel } from './dashboard';
import type { Interpolate } from './variables';

export interface Drawing {
  frames: DataFrame[];
  // The options of this panel's type, with defaults. tsc checks them against Grafana's types in the dashboard's file.
  options: any;
  fieldConfig: FieldConfigSource;
  range: TimeRange;
  theme: GrafanaTheme2;
  inText: Interpolate;
  width: number;
  height: number;
}

/** values returns the values that a stat or a bar gauge shows. */
export const values = (d: Drawing): FieldDisplay[] =>
  getFieldDisplayValues({
    data: d.frames, fieldConfig: d.fieldConfig, reduceOptions: d.options.reduceOptions, replaceVariables: d.inText,
    sparkline: d.options.graphMode !== undefined && d.options.graphMode !== 'none', percentChange: d.options.showPercentChange,
    theme: d.theme, timeZone: 'utc',
  });

type Value = VizRepeaterRenderValueProps<FieldDisplay, DisplayValueAlignmentFactors>;

function Stat(d: Drawing) {
  const { colorMode, graphMode, justifyMode, textMode, text, wideLayout, percentChangeColorMode } = d.options;
  const draw = ({ value, width, height, alignmentFactors, count }: Value) => (
    <BigValue
      {...{ width, height, alignmentFactors, count, colorMode, graphMode, justifyMode, textMode, text, percentChangeColorMode }}
      value={value.display} theme={d.theme} disableWideLayout={!wideLayout}
      sparkline={value.sparkline && { ...value.sparkline, timeRange: d.range }}
    />
  );
  return (
    <VizRepeater getValues={() => values(d)} getAlignmentFactors={getDisplayValueAlignmentFactors} renderValue={draw} source={d.frames}
      width={d.width} height={d.height} itemSpacing={3} renderCounter={0} autoGrid orientation={d.options.orientation} />
  );
}

function Bars(d: Drawing) {
  const { displayMode, showUnfilled, valueMode, namePlacement, text, minVizWidth, minVizHeight, maxVizHeight, sizing } = d.options;
  const manual = sizing === 'manual';
  const draw = ({ value, width, height, orientation, alignmentFactors }: Value) => (
    <BarGauge
      {...{ width, height, orientation, alignmentFactors, displayMode, showUnfilled, namePlacement, text }}
      value={value.display} field={value.field} theme={d.theme} valueDisplayMode={valueMode} lcdCellWidth={12}
      display={value.view?.getFieldDisplayProcessor(value.colIndex!)} itemSpacing={displayMode === 'lcd' ? 2 : 10}
    />
  );
  const wide = d.options.orientation === 'auto' ? (d.width > d.height ? VizOrientation.Vertical : VizOrientation.Horizontal) : d.options.orientation;
  return (
    <VizRepeater getValues={() => values(d)} getAlignmentFactors={getDisplayValueAlignmentFactors} renderValue={draw} source={d.frames}
      width={d.width} height={d.height} itemSpacing={displayMode === 'lcd' ? 2 : 10} renderCounter={0} orientation={wide}
      minVizWidth={manual ? minVizWidth : 8} minVizHeight={manual ? minVizHeight : 16} maxVizHeight={manual ? maxVizHeight : 300} />
  );
}

// finite replaces infinite values and NaN, such as 0/0, by null, so that the line has a gap.
const finite = (frame: DataFrame): DataFrame => ({
  ...frame,
  fields: frame.fields.map((f) => (f.type === FieldType.number ? { ...f, values: f.values.map((v) => (Number.isFinite(v) ? v : null)) } : f)),
});

const Lines = (d: Drawing) => (
  <TimeSeries frames={d.frames.map(finite)} width={d.width} height={d.height} timeRange={d.range} timeZone="utc" legend={d.options.legend} options={d.options} />
);

function Rows(d: Drawing) {
  cacheFieldDisplayNames(d.frames);
  const { showHeader, showTypeIcons, cellHeight, sortBy, enablePagination, frozenColumns, maxRowHeight, pageSize, frameIndex } = d.options;
  return (
    <TableNG
      {...{ showTypeIcons, cellHeight, sortBy, enablePagination, maxRowHeight, pageSize }}
      data={d.frames[frameIndex ?? 0]} width={d.width} height={d.height} noHeader={!showHeader} frozenColumns={frozenColumns?.left}
      fieldConfig={d.fieldConfig} timeRange={d.range}
    />
  );
}

function Text(d: Drawing) {
  const { mode, content } = d.options;
  if (mode !== 'markdown') throw new Error(`text of mode ${mode} is not drawn`);
  return <RenderUserContentAsHTML className="markdown-html" content={renderTextPanelMarkdown(d.inText(content))} />;
}

export const drawings: Record<Panel['type'], ComponentType<Drawing>> = {
  timeseries: Lines, stat: Stat, bargauge: Bars, table: Rows, text: Text,
};

/** filled reports whether a panel has data to draw: a number, or in a table a row. */
export const filled = (type: Panel['type'], frames: DataFrame[]) =>
  type === 'text' ||
  frames.some((frame) =>
    type === 'table'
      ? frame.length > 0
      : frame.fields.some((f) => f.type === FieldType.number && f.values.some((v) => v !== null && !Number.isNaN(v)))
  );
