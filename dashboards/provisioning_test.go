package dashboards

import (
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

var (
	provisioned = regexp.MustCompile(`(?m)^    uid: (\S+)\n    type: (\S+)$`)
	destination = regexp.MustCompile(`datasourceUid: (\S+)`)
	exemplar    = regexp.MustCompile(`- name: trace_id\n`)
)

// TestExemplarsLinkToTheProvisionedTraceSource checks that the uids in the files match. It does not run Grafana.
func TestExemplarsLinkToTheProvisionedTraceSource(t *testing.T) {
	text := read(t, filepath.Join("provisioning", "datasources", "mcpotel.yaml"))
	types := map[string]string{}
	for _, m := range provisioned.FindAllStringSubmatch(text, -1) {
		types[m[1]] = m[2]
	}
	to := destination.FindStringSubmatch(text)
	if to == nil || types[to[1]] != "jaeger" || !exemplar.MatchString(text) {
		t.Errorf("exemplars link trace_id to %v, want the data source of type jaeger among %v", to, types)
	}
	for _, b := range boards(t) {
		for _, v := range b.Templating.List {
			if v.Type == "datasource" && !slices.ContainsFunc(slices.Collect(maps.Values(types)), func(kind string) bool {
				return `"`+kind+`"` == string(v.Query)
			}) {
				t.Errorf("%s: the variable %s needs a data source of type %s, but none is provisioned", b.file, v.Name,
					v.Query)
			}
		}
	}
}
