package dashboard

// kindOf is the set of properties that Grafana's panels of one kind share.
type kindOf struct {
	custom  func(Panel) object // returns the custom options of the fields
	options func(Panel) object
}

var kinds = map[Kind]kindOf{
	TimeSeries: {drawn, func(Panel) object {
		return object{
			"legend": object{"calcs": []string{"lastNotNull", "max"}, "displayMode": "table", "placement": "bottom",
				"showLegend": true, "sortBy": "Max", "sortDesc": true},
			"tooltip": object{"mode": "multi", "sort": "desc"},
		}
	}},
	Stat: {noCustom, func(p Panel) object {
		color := "value"
		if p.Steps == nil {
			color = "none"
		}
		return object{
			"colorMode": color, "graphMode": "none", "justifyMode": "auto", "orientation": "auto", "textMode": "auto",
			"wideLayout":    true,
			"reduceOptions": lastValue,
		}
	}},
	BarGauge: {noCustom, func(Panel) object {
		return object{
			"displayMode": "basic", "orientation": "horizontal", "showUnfilled": true, "valueMode": "color", "minVizHeight": 16,
			"minVizWidth": 8, "namePlacement": "auto", "sizing": "auto", "reduceOptions": lastValue,
		}
	}},
	Table: {func(Panel) object {
		return object{"align": "auto", "cellOptions": object{"type": "auto"}, "inspect": false}
	}, func(p Panel) object {
		sort := []object{}
		if first := p.firstValue(); first != "" {
			sort = append(sort, object{"displayName": first, "desc": true})
		}
		return object{"showHeader": true, "cellHeight": "sm", "sortBy": sort}
	}},
}

var lastValue = object{"calcs": []string{"lastNotNull"}, "fields": "", "values": false}

// softMax maps a unit to the value up to which an axis always extends, so that a line at zero looks like zero.
var softMax = map[string]float64{"percentunit": .1, "short": 1, "reqps": 1, "cps": 1, "cpm": 1}

func noCustom(Panel) object { return nil }

func drawn(p Panel) object {
	o := object{
		"drawStyle": "line", "lineInterpolation": "linear", "lineWidth": 1, "fillOpacity": 10, "gradientMode": "none",
		"showPoints": "auto",
		"pointSize":  4, "spanNulls": false, "axisPlacement": "auto", "axisSoftMin": 0,
		"stacking":        object{"mode": "none", "group": "A"},
		"thresholdsStyle": object{"mode": "off"},
	}
	if most, ok := softMax[p.Unit]; ok {
		o["axisSoftMax"] = most
	}
	if p.Stacked {
		o["stacking"], o["fillOpacity"] = object{"mode": "normal", "group": "A"}, 30
	}
	if p.Steps != nil {
		o["thresholdsStyle"] = object{"mode": "dashed"}
	}
	return o
}

func (p Panel) defaults(k kindOf) object {
	o := object{
		"unit": p.Unit, "noValue": p.Empty, "thresholds": thresholds(p.Steps), "mappings": []object{},
		"color": object{"mode": "palette-classic"},
	}
	if p.Kind == Table {
		o["unit"] = "short"
	}
	if p.Kind != Table && p.kind() != TimeSeries && p.Unit == "short" {
		o["unit"], o["decimals"] = count, 0
	}
	if p.kind() != TimeSeries {
		o["color"] = object{"mode": "thresholds"}
	}
	if custom := k.custom(p); custom != nil {
		o["custom"] = custom
	}
	return o
}

func thresholds(steps []Step) object {
	out := []object{{"color": "green", "value": nil}}
	for _, s := range steps {
		out = append(out, object{"color": s.Color, "value": s.Value})
	}
	return object{"mode": "absolute", "steps": out}
}

// firstValue returns the title of the first column that is not a label. The table is sorted by this column.
func (p Panel) firstValue() string {
	for _, c := range p.Columns {
		if c.isValue() && c.Title != "" {
			return c.Title
		}
	}
	return ""
}

func (c Column) isValue() bool { return len(c.Field) == 1 }

// field returns Grafana's name for the column's field.
func (c Column) field(p Panel) string {
	switch {
	case !c.isValue():
		return c.Field
	case len(p.Queries) == 1:
		return "Value"
	}
	return "Value #" + c.Field
}

// transformations returns the transformations that join the results of the queries into one table with the panel's
// columns and their titles.
func (p Panel) transformations() []object {
	index, rename, exclude := object{}, object{}, object{"Time": true}
	for i, c := range p.Columns {
		if c.Title == "" {
			exclude[c.field(p)] = true
			continue
		}
		index[c.field(p)], rename[c.field(p)] = i, c.Title
	}
	organize := object{
		"excludeByName": exclude, "includeByName": object{}, "indexByName": index, "renameByName": rename,
	}
	return []object{{"id": "merge", "options": object{}}, {"id": "organize", "options": organize}}
}

// count is the unit of a number of events. It has no decimals, although Prometheus extrapolates to fractions of events.
const count = "locale"

// overrides returns the colors of lines, and the units, thresholds and links of columns. It makes labels text, even a
// label such as -32602. Empty cells stay empty: they do not show the panel's text for missing data.
func (p Panel) overrides() []object {
	out := []object{}
	for _, c := range p.Colors {
		color := object{"id": "color", "value": object{"mode": "fixed", "fixedColor": c.Color}}
		out = append(out, object{"matcher": object{"id": "byName", "options": c.Name}, "properties": []object{color}})
	}
	for _, c := range p.Columns {
		if c.Title == "" {
			continue
		}
		properties := []object{{"id": "noValue", "value": "–"}}
		switch {
		case !c.isValue():
			properties = append(properties, object{"id": "unit", "value": "string"})
		case c.Unit == "short":
			properties = append(properties, object{"id": "unit", "value": count}, object{"id": "decimals", "value": 0})
		default:
			properties = append(properties, object{"id": "unit", "value": c.Unit})
		}
		if c.Steps != nil {
			properties = append(properties, object{"id": "thresholds", "value": thresholds(c.Steps)},
				object{"id": "custom.cellOptions", "value": object{"type": "color-text"}})
		}
		if c.Links != nil {
			properties = append(properties, object{"id": "links", "value": links(c.Links)})
		}
		out = append(out, object{"matcher": object{"id": "byName", "options": c.Title}, "properties": properties})
	}
	return out
}
