package conformance

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// check is one entry of a checks.json.
type check struct {
	ID           string `json:"id"`
	Status       string `json:"status"` // SUCCESS, FAILURE, WARNING, SKIPPED, INFO
	Description  string `json:"description"`
	ErrorMessage string `json:"errorMessage"`
}

// faults returns the reasons why a run does not count as passed, or none. It is stricter than the suite in two ways.
// The suite passes a scenario without a successful check. The suite also accepts any failure of a client that must
// refuse; this project's client itself reports whether it refused correctly.
func (o outcome) faults() []string {
	var faults []string
	for _, c := range o.checks {
		if c.Status == "FAILURE" || c.Status == "WARNING" {
			faults = append(faults, fmt.Sprintf("%s %s: %s", c.Status, c.ID, cmp.Or(c.ErrorMessage, c.Description)))
		}
	}
	if o.succeeded() == 0 {
		faults = append(faults, "no check succeeded")
	}
	if o.client != 0 {
		faults = append(faults, fmt.Sprintf("the client exited with status %d", o.client))
	}
	if o.exit != 0 && len(faults) == 0 {
		faults = append(faults, fmt.Sprintf("the suite exited with status %d", o.exit))
	}
	return faults
}

// succeeded returns the number of successful checks.
func (o outcome) succeeded() int {
	n := 0
	for _, c := range o.checks {
		if c.Status == "SUCCESS" {
			n++
		}
	}
	return n
}

// judged returns the number of checks that can succeed.
func (o outcome) judged() int {
	n := o.succeeded()
	for _, c := range o.checks {
		if c.Status == "FAILURE" || c.Status == "WARNING" {
			n++
		}
	}
	return n
}

// baseline parses the lists of known failures of the client and of the server. It deliberately supports only a small
// part of YAML.
func baseline(text string) (map[string][]string, error) {
	known := map[string][]string{}
	side := ""
	for n, line := range strings.Split(text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		line = strings.TrimSpace(line)
		entry, isEntry := strings.CutPrefix(line, "- ")
		head, rest, _ := strings.Cut(line, ":")
		_, again := known[head]
		switch {
		case line == "":
		case isEntry && side != "" && !slices.Contains(known[side], entry):
			known[side] = append(known[side], entry)
		case !isEntry && !again && (head == "client" || head == "server") && (rest == "" || rest == " []"):
			known[head] = nil
			if side = head; rest != "" {
				side = ""
			}
		default:
			return nil, fmt.Errorf("line %d: %q is neither the beginning of a list nor a new entry", n+1, line)
		}
	}
	return known, nil
}

func TestRunPassesOnlyWithASuccessAndNoFault(t *testing.T) {
	for name, tc := range map[string]struct {
		o      outcome
		faults string
	}{
		"success": {outcome{
			checks: []check{{ID: "a", Status: "SUCCESS"}, {ID: "b", Status: "INFO"}, {ID: "c", Status: "SKIPPED"}}}, ""},
		"failure": {outcome{
			checks: []check{{ID: "a", Status: "SUCCESS"}, {ID: "b", Status: "FAILURE", ErrorMessage: "no"}}, exit: 1},
			"FAILURE b: no"},
		"warning": {outcome{
			checks: []check{{ID: "a", Status: "SUCCESS"}, {ID: "b", Status: "WARNING", Description: "d"}}, exit: 1},
			"WARNING b: d"},
		"no success": {outcome{checks: []check{{ID: "a", Status: "INFO"}}}, "no check succeeded"},
		"no check":   {outcome{}, "no check succeeded"},
		"status of the suite": {outcome{checks: []check{{ID: "a", Status: "SUCCESS"}}, exit: 1},
			"the suite exited with status 1"},
		"status of the client, which the suite allows": {
			outcome{checks: []check{{ID: "a", Status: "SUCCESS"}}, client: 2}, "the client exited with status 2",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := strings.Join(tc.o.faults(), "; "); got != tc.faults {
				t.Errorf("faults: want %q, got %q", tc.faults, got)
			}
		})
	}
}

func TestTheBaselineIsReadStrictly(t *testing.T) {
	for text, want := range map[string]string{
		"client: []\nserver: []\n":             "map[client:[] server:[]]",
		"# why\nclient:\n  - 2026-07-28/a\n":   "map[client:[2026-07-28/a]]",
		"client:\n- a # why\nserver:\n- b/c\n": "map[client:[a] server:[b/c]]",
		"- a\n":                                "error",
		"client: []\n- a\n":                    "error",
		"client:\n- a\n- a\n":                  "error",
		"client:\nclient:\n":                   "error",
		"peer:\n- a\n":                         "error",
	} {
		known, err := baseline(text)
		got := fmt.Sprint(known)
		if err != nil {
			got = "error"
		}
		if got != want {
			t.Errorf("%q: want %q, got %q (%v)", text, want, got, err)
		}
	}
}
