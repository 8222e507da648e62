package dashboard

import (
	"net/url"
	"strings"
)

// tracesWith returns a link to a search for the traces of a service with tags, in Grafana's Explore. The service and
// the tags may contain Grafana's references to a field of the row.
func tracesWith(title, service, tags string) Link {
	pane := `{"traces":{"datasource":"${traces}","queries":[{"refId":"A","datasource":{"type":"jaeger",` +
		`"uid":"${traces}"},` +
		`"queryType":"search","service":"` + service + `","tags":"` + tags +
		`"}],"range":{"from":"${__from}","to":"${__to}"}}}`
	return Link{title, "/explore?schemaVersion=1&panes=" + escapeAround(pane)}
}

// to returns a link to another dashboard, with the time range and the variables in vars.
func to(title, uid, vars string) Link {
	return Link{title, "/d/" + prefix + uid + "?${__url_time_range}&${datasource:queryparam}&${traces:queryparam}" + vars}
}

// escapeAround escapes s for a URL, except for references to variables and fields.
func escapeAround(s string) string {
	var b strings.Builder
	for {
		literal, rest, found := strings.Cut(s, "${")
		b.WriteString(strings.ReplaceAll(url.QueryEscape(literal), "+", "%20"))
		if !found {
			return b.String()
		}
		reference, after, _ := strings.Cut(rest, "}")
		b.WriteString("${" + reference + "}")
		s = after
	}
}
