package dashboard

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// object is a JSON object. Its members are written in alphabetical order.
type object = map[string]any

// schemaVersion is the version of Grafana's dashboard schema: Grafana 11's. Later versions of Grafana migrate it.
const schemaVersion = 39

// JSON returns the dashboard in Grafana's format for import and provisioning.
func (d Dashboard) JSON() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(object{
		"annotations":          object{"list": d.annotations()},
		"description":          d.Description,
		"editable":             true,
		"fiscalYearStartMonth": 0,
		"graphTooltip":         1, // one crosshair for all panels
		"id":                   nil,
		"links":                []object{otherDashboards},
		"panels":               d.panels(),
		"refresh":              "30s",
		"schemaVersion":        schemaVersion,
		"tags":                 []string{"mcp", "mcpotel"},
		"templating":           object{"list": d.variables()},
		"time":                 object{"from": "now-1h", "to": "now"},
		"timepicker":           object{},
		"timezone":             "",
		"title":                d.Title,
		"uid":                  prefix + d.UID,
		"version":              1,
		"weekStart":            "",
	})
	return b.Bytes(), err
}

var builtInAnnotations = object{
	"builtIn": 1, "datasource": object{"type": "grafana", "uid": "-- Grafana --"}, "enable": true, "hide": true,
	"iconColor": "rgba(0, 211, 255, 1)", "name": "Annotations & Alerts", "type": "dashboard",
}

// annotations returns the annotations of the dashboard, which mark all its graphs.
func (d Dashboard) annotations() []object {
	all := []object{builtInAnnotations}
	for _, a := range d.Annotations() {
		all = append(all, object{
			"datasource": prometheusSource, "enable": true, "hide": false, "iconColor": a.Color, "name": a.Name,
			"target":      object{"refId": "Anno", "expr": a.Expr, "interval": "1m", "legendFormat": ""},
			"titleFormat": a.Title, "textFormat": a.Text, "tagKeys": "", "useValueForTime": false,
		})
	}
	return all
}

// otherDashboards is a link to the other dashboards, with the time and the variables.
var otherDashboards = object{
	"asDropdown": false, "icon": "external link", "includeVars": true, "keepTime": true, "tags": []string{"mcpotel"},
	"targetBlank": false, "title": "", "tooltip": "", "type": "dashboards", "url": "",
}

func (d Dashboard) variables() []object {
	var all []object
	for _, v := range append([]Variable{prometheusVariable, jaegerVariable, resolutionVariable}, d.Variables...) {
		all = append(all, v.object())
	}
	return all
}

func (v Variable) object() object {
	switch {
	case v.Type != "":
		return object{
			"current": object{}, "hide": 0, "includeAll": false, "label": v.Label, "multi": false, "name": v.Name,
			"options": []object{},
			"query":   v.Type, "refresh": 1, "regex": "", "skipUrlSync": false, "type": "datasource",
		}
	case v.Options != nil:
		return v.custom()
	}
	return object{
		"allValue": v.All, "current": object{"selected": true, "text": []string{"All"}, "value": []string{"$__all"}},
		"datasource": prometheusSource, "definition": v.Query, "hide": 0, "includeAll": true, "label": v.Label, "multi": true,
		"name": v.Name, "options": []object{}, "query": object{"qryType": 1, "query": v.Query, "refId": "values"},
		"refresh": 2, // on each change of the time range
		"regex":   "", "skipUrlSync": false, "sort": 1, "type": "query",
	}
}

func (v Variable) custom() object {
	var options []object
	for i, o := range v.Options {
		options = append(options, object{"selected": i == 0, "text": o, "value": o})
	}
	return object{
		"current": options[0], "hide": 0, "includeAll": false, "label": v.Label, "multi": false, "name": v.Name,
		"options": options,
		"query":   strings.Join(v.Options, ","), "skipUrlSync": false, "type": "custom",
	}
}

// prometheusSource is the data source that the dashboard's variable selects.
var prometheusSource = object{"type": "prometheus", "uid": "${" + prometheusVariable.Name + "}"}

// gridWidth is the width of Grafana's grid.
const gridWidth = 24

// panels lays out the rows: each row starts on a new line, and its panels flow to the right and wrap.
func (d Dashboard) panels() []object {
	var all []object
	y := 0
	add := func(p object, x, y, w, h int) {
		p["id"], p["gridPos"] = len(all)+1, object{"x": x, "y": y, "w": w, "h": h}
		all = append(all, p)
	}
	for _, r := range d.Rows {
		add(object{"type": "row", "title": r.Title, "collapsed": false, "panels": []object{}}, 0, y, gridWidth, 1)
		y++
		x, height := 0, 0
		for _, p := range r.Panels {
			w, h := p.size()
			if x+w > gridWidth {
				x, y, height = 0, y+height, 0
			}
			add(p.object(), x, y, w, h)
			x, height = x+w, max(height, h)
		}
		y += height
	}
	return all
}

func (p Panel) size() (w, h int) {
	w, h = 12, 8
	if p.Kind == Stat {
		w, h = 4, 4
	}
	if p.Width > 0 {
		w = p.Width
	}
	if p.Height > 0 {
		h = p.Height
	}
	return w, h
}

func (p Panel) object() object {
	kind, ok := kinds[p.kind()]
	if !ok {
		panic(fmt.Sprintf("dashboard: panel %q has no kind", p.Title))
	}
	var targets []object
	for i, q := range p.Queries {
		targets = append(targets, q.object(Letter(i), p))
	}
	o := object{
		"type": string(p.kind()), "title": p.Title, "description": p.Text, "datasource": prometheusSource, "targets": targets,
		"fieldConfig": object{"defaults": p.defaults(kind), "overrides": p.overrides()},
		"options":     kind.options(p),
	}
	if p.Kind == Table {
		o["transformations"] = p.transformations()
	}
	if len(p.Links) > 0 {
		o["links"] = links(p.Links)
	}
	return o
}

func (q Query) object(letter string, p Panel) object {
	o := object{
		"refId": letter, "datasource": prometheusSource, "editorMode": "code", "expr": q.Expr, "legendFormat": q.Legend,
		"interval": "$" + resolutionVariable.Name, "range": !p.Instant(), "instant": p.Instant(), "exemplar": q.Exemplars,
		"format": "time_series",
	}
	if p.Kind == Table {
		o["format"] = "table"
	}
	return o
}

func links(all []Link) []object {
	var out []object
	for _, l := range all {
		out = append(out, object{"title": l.Title, "url": l.URL, "targetBlank": false})
	}
	return out
}
