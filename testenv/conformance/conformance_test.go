package conformance

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var (
	client  string // the client under test; TestMain builds it once
	results string // where the suite writes; what failed stays there
)

func TestMain(m *testing.M) {
	status, err := buildAndRun(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		status = 1
	}
	os.Exit(status)
}

func buildAndRun(m *testing.M) (status int, err error) {
	dir, err := os.MkdirTemp("", "conformance")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	if results, err = os.MkdirTemp("", "conformance-results"); err != nil {
		return 0, err
	}
	defer os.Remove(results) // fails if something is left to look at
	client = filepath.Join(dir, "client")
	if strings.Contains(client, " ") {
		return 0, fmt.Errorf("the suite splits the client's command at spaces: set TMPDIR to a folder without, not %q", dir)
	}
	build := exec.Command("go", "build", "-o", client, "./client")
	if out, err := build.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("build the client: %w\n%s", err, out)
	}
	return m.Run(), nil
}

// TestClient runs every scenario, one at a time: some of them measure time.
func TestClient(t *testing.T) {
	s := installed(t)
	known := knownFailures(t)
	var board scoreboard
	for _, r := range revisions {
		t.Run(r.name(), func(t *testing.T) {
			for _, scenario := range slices.Concat(r.required, r.extensions) {
				t.Run(scenario, func(t *testing.T) {
					o := s.run(t, r, scenario)
					board.add(r, scenario, o)
					judge(t, o, slices.Contains(known, r.name()+"/"+scenario))
				})
			}
		})
	}
	fmt.Print(&board)
}

// knownFailures is what baseline.yaml lists.
func knownFailures(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("baseline.yaml")
	if err != nil {
		t.Fatal(err)
	}
	known, err := baseline(string(text))
	if err != nil {
		t.Fatalf("baseline.yaml: %v", err)
	}
	for _, name := range known {
		version, scenario, _ := strings.Cut(name, "/")
		if r, found := find(version); !found || !r.runs(scenario) {
			t.Errorf("baseline.yaml: %s is not run", name)
		}
	}
	return known
}

// judge passes or fails a scenario, and keeps what the suite wrote if it failed.
func judge(t *testing.T, o outcome, known bool) {
	faults := o.faults()
	switch {
	case len(faults) == 0 && known:
		t.Error("passes, but is in baseline.yaml: remove it there")
	case len(faults) > 0 && known:
		t.Logf("known to fail:\n%s", strings.Join(faults, "\n"))
	case len(faults) > 0:
		t.Errorf("%s\nkept in %s", strings.Join(faults, "\n"), o.dir)
		return
	}
	if err := os.RemoveAll(o.dir); err != nil {
		t.Error(err)
	}
}

// TestAClientThatDoesNothingFails proves that the runner can fail, also where the suite expects the client to give up.
func TestAClientThatDoesNothingFails(t *testing.T) {
	s := installed(t)
	for version, scenario := range map[string]string{
		"2025-11-25": "initialize", "2026-07-28": "auth/iss-normalized",
	} {
		for _, s.client = range []string{"true", "false"} {
			o := s.run(t, revision{version: version}, scenario)
			if len(o.faults()) == 0 {
				t.Errorf("%s/%s with the client %q: want faults, got none:\n%s", version, scenario, s.client, o.output)
			}
			if err := os.RemoveAll(o.dir); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestTheScenariosAreThoseOfTheSuite compares with what the suite requires, and what it runs beside that.
func TestTheScenariosAreThoseOfTheSuite(t *testing.T) {
	s := installed(t)
	for _, name := range []string{"2026-07-28", "2025-11-25"} {
		r, _ := find(name)
		exit, output := s.execute(t, "list", "--client", "--requirements", r.version)
		if exit != 0 {
			t.Fatalf("list exited with status %d: %s", exit, output)
		}
		_, output, _ = strings.Cut(output, "\nClient scenarios")
		required, beside, _ := strings.Cut(output, "\n\n")
		for what, lists := range map[string][2][]string{
			"required":   {listed(required, ""), r.required},
			"extensions": {listed(beside, " [client]"), r.extensions},
		} {
			want, got := slices.Sorted(slices.Values(lists[0])), slices.Sorted(slices.Values(lists[1]))
			if !slices.Equal(want, got) {
				t.Errorf("%s, %s: want %q, got %q", r.version, what, want, got)
			}
		}
	}
}

// listed are the scenarios of a list of the suite whose lines end so.
func listed(text, suffix string) []string {
	var names []string
	for line := range strings.Lines(text) {
		name, isEntry := strings.CutPrefix(strings.TrimSpace(line), "- ")
		if name, found := strings.CutSuffix(name, suffix); isEntry && found {
			names = append(names, name)
		}
	}
	return names
}
