package dashboards

import (
	"flag"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpotel/mcpotel/internal/dashboard"
)

var update = flag.Bool("update", false, "write the files instead of comparing with them")

const regenerate = "go generate ./dashboards"

func TestDashboardFilesMatchTheTable(t *testing.T) {
	for _, d := range dashboard.All() {
		data, err := d.JSON()
		if err != nil {
			t.Fatal(err)
		}
		checkFile(t, d.UID+".json", string(data))
	}
}

func TestRuleFilesMatchTheTable(t *testing.T) {
	checkFile(t, "rules.yaml", dashboard.RecordingsYAML())
	checkFile(t, "alerts.yaml", dashboard.AlertsYAML())
}

// checkFile compares a file with the generated text, or writes the file with -update.
func checkFile(t *testing.T, path, want string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("%s is generated from internal/dashboard; run %q (-want +got):\n%s", path, regenerate, diff)
	}
}
