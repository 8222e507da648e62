package dashboards

import (
	"encoding/json"
	"testing"

	"github.com/mcpotel/mcpotel/internal/dashboard"
)

func TestPanelsAllowedToBeEmptyMatchTheTable(t *testing.T) {
	want := map[string]string{}
	for _, d := range dashboard.All() {
		for _, r := range d.Rows {
			for _, p := range r.Panels {
				if why := whyEmpty(p); why != "" {
					want[d.UID+": "+p.Title] = why
				}
			}
		}
	}
	text, err := json.MarshalIndent(want, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	checkFile(t, "../testenv/grafana/empty.json", string(text)+"\n")
}

// whyEmpty returns the reason why a panel may be empty, or an empty string if one of its queries must have a result.
func whyEmpty(p dashboard.Panel) string {
	why := ""
	for _, q := range p.Queries {
		if q.Zero == "" {
			return ""
		}
		why = q.Zero
	}
	return why
}
