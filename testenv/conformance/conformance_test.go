package conformance

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var (
	client  string // the programs under test; TestMain builds them once
	server  string
	command string // mcpotel
	results string // directory for the suite's output; the output of failed scenarios stays
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
	defer os.Remove(results) // fails if output of a failed scenario is left
	client, server, command = filepath.Join(dir, "client"), filepath.Join(dir, "server"), filepath.Join(dir, "mcpotel")
	if strings.Contains(client, " ") {
		return 0, fmt.Errorf("the suite splits the client's command at spaces: set TMPDIR to a folder without, not %q", dir)
	}
	for _, args := range [][]string{{"-o", dir, "./client", "./server"}, {"-C", "../..", "-o", dir, "./cmd/mcpotel"}} {
		if out, err := exec.Command("go", append([]string{"build"}, args...)...).CombinedOutput(); err != nil {
			return 0, fmt.Errorf("build the programs under test: %w\n%s", err, out)
		}
	}
	return m.Run(), nil
}

// TestClient runs every scenario for clients, one at a time: some of them measure time.
func TestClient(t *testing.T) {
	s := installed(t)
	runAll(t, "client", revisions, func(t *testing.T, r revision) runner {
		l := s.lane(t, r)
		return func(t *testing.T, scenario string) outcome { return s.run(t, l, r, scenario) }
	})
}

// TestServer runs every scenario for servers, one at a time, against one process at one URL, or the proxy in front.
func TestServer(t *testing.T) {
	s, direct := installed(t).onTheHost(), start(t, server)
	between := start(t, command, "proxy", "--listen", "127.0.0.1:0", "--url", direct)
	runAll(t, "server", serverRevisions, func(t *testing.T, r revision) runner {
		l, url := s.lane(t, r), direct
		if r.way == proxied {
			url = between
		}
		return func(t *testing.T, scenario string) outcome { return s.runServer(t, l, url, r, scenario) }
	})
}

// runner runs a scenario of a revision.
type runner = func(t *testing.T, scenario string) outcome

// runAll runs the scenarios of one side, judges them and prints the scores.
func runAll(t *testing.T, side string, revisions []revision, at func(*testing.T, revision) runner) {
	known := knownFailures(t, side, revisions)
	var board scoreboard
	for _, r := range revisions {
		t.Run(r.name(), func(t *testing.T) {
			run := at(t, r)
			for _, scenario := range r.scenarios() {
				t.Run(scenario, func(t *testing.T) {
					o := run(t, scenario)
					board.add(r, scenario, o)
					judge(t, o, slices.Contains(known, r.name()+"/"+scenario))
				})
			}
			for _, scenario := range r.skipped {
				t.Run(scenario, func(t *testing.T) { judgeSkipped(t, run(t, scenario)) })
			}
		})
	}
	fmt.Printf("%s\n%s", side, &board)
}

// knownFailures returns the entries of baseline.yaml for one side.
func knownFailures(t *testing.T, side string, revisions []revision) []string {
	t.Helper()
	text, err := os.ReadFile("baseline.yaml")
	if err != nil {
		t.Fatal(err)
	}
	known, err := baseline(string(text))
	if err != nil {
		t.Fatalf("baseline.yaml: %v", err)
	}
	for _, name := range known[side] {
		version, scenario, _ := strings.Cut(name, "/")
		if r, found := find(revisions, version); !found || !r.runs(scenario) {
			t.Errorf("baseline.yaml: %s: %s is not run", side, name)
		}
	}
	return known[side]
}

// judge passes or fails a scenario. It keeps the suite's output if the scenario failed.
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

// judgeSkipped checks that the suite still skips a scenario. If the suite runs the scenario, the scenario belongs in
// another list.
func judgeSkipped(t *testing.T, o outcome) {
	for _, c := range o.checks {
		if c.Status != "SKIPPED" {
			t.Errorf("%s is %s: the suite does not skip the scenario any more", c.ID, c.Status)
		}
	}
	if err := os.RemoveAll(o.dir); err != nil {
		t.Error(err)
	}
}

// TestAClientThatDoesNothingFails proves that the runner can fail a client, even where the suite expects the client to
// give up.
func TestAClientThatDoesNothingFails(t *testing.T) {
	s := installed(t)
	for version, scenario := range map[string]string{
		"2025-11-25": "initialize", "2026-07-28": "auth/iss-normalized",
	} {
		for _, s.client = range []string{"true", "false"} {
			r := revision{version: version}
			o := s.run(t, s.lane(t, r), r, scenario)
			if len(o.faults()) == 0 {
				t.Errorf("%s/%s with the client %q: want faults, got none:\n%s", version, scenario, s.client, o.output)
			}
			if err := os.RemoveAll(o.dir); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestScenariosMatchTheSuite compares our scenarios with those that the suite requires, and its optional ones.
func TestScenariosMatchTheSuite(t *testing.T) {
	l := installed(t).lane(t, revision{})
	for side, revisions := range map[string][]revision{"client": revisions, "server": serverRevisions} {
		for _, name := range []string{"2026-07-28", "2025-11-25"} {
			r, _ := find(revisions, name)
			exit, output := execute(t, l, "list", "--"+side, "--requirements", r.version)
			if exit != 0 {
				t.Fatalf("list exited with status %d: %s", exit, output)
			}
			_, output, _ = strings.Cut(output, "\n"+strings.ToUpper(side[:1])+side[1:]+" scenarios")
			required, beside, _ := strings.Cut(output, "\n\n")
			for what, lists := range map[string][2][]string{
				"required":   {listed(required, ""), r.required},
				"extensions": {listed(beside, " ["+side+"]"), slices.Concat(r.extensions, r.skipped)},
			} {
				want, got := slices.Sorted(slices.Values(lists[0])), slices.Sorted(slices.Values(lists[1]))
				if !slices.Equal(want, got) {
					t.Errorf("%s, %s, %s: want %q, got %q", side, r.version, what, want, got)
				}
			}
		}
	}
}

// TestAServerThatRefusesEverythingFails proves that the runner can fail a server.
func TestAServerThatRefusesEverythingFails(t *testing.T) {
	s, r := installed(t).onTheHost(), revision{version: "2026-07-28"}
	web := httptest.NewServer(http.NotFoundHandler())
	defer web.Close()
	o := s.runServer(t, s.lane(t, r), web.URL, r, "tools-call-simple-text")
	if len(o.faults()) == 0 {
		t.Errorf("want faults, got none:\n%s", o.output)
	}
	if err := os.RemoveAll(o.dir); err != nil {
		t.Error(err)
	}
}

// TestSkillsScenariosMatchTheSuite compares our scenarios with the suite's scenarios of the Skills extension.
func TestSkillsScenariosMatchTheSuite(t *testing.T) {
	exit, output := execute(t, installed(t).lane(t, revision{}), "list")
	if exit != 0 {
		t.Fatalf("list exited with status %d: %s", exit, output)
	}
	want := slices.DeleteFunc(listed(output, " [extension]"), func(name string) bool {
		return !strings.HasPrefix(name, "sep-2640-")
	})
	got := slices.Concat(skills, serverSkills)
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(want, got) {
		t.Errorf("want %q, got %q", want, got)
	}
}

// TestScenariosOfARevisionAreUnique checks for duplicates: one process of the suite would judge a second run by the
// checks of both runs.
func TestScenariosOfARevisionAreUnique(t *testing.T) {
	for _, r := range slices.Concat(revisions, serverRevisions) {
		names := slices.Sorted(slices.Values(slices.Concat(r.scenarios(), r.skipped)))
		if once := slices.Compact(slices.Clone(names)); len(once) != len(names) {
			t.Errorf("%s: want each scenario once, got %q", r.name(), names)
		}
	}
}

// listed returns the scenarios in a list of the suite, from the lines with this suffix.
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
