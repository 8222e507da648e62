package dashboards

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mcpotel/mcpotel/internal/dashboard"
)

// runbook returns the sections of the runbook, in their order.
func runbook(t *testing.T) (all []string, sections map[string]string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "docs", "runbook.md"))
	if err != nil {
		t.Fatal(err)
	}
	sections = map[string]string{}
	for part := range strings.SplitSeq(string(data), "\n## ") {
		name, text, _ := strings.Cut(part, "\n")
		if strings.HasPrefix(name, "MCP") {
			all, sections[name] = append(all, name), text
		}
	}
	return all, sections
}

func TestEveryAlertHasARunbookSection(t *testing.T) {
	sectionNames, sections := runbook(t)
	var alerts []string
	for _, a := range dashboard.Alerts() {
		alerts = append(alerts, a.Name)
		for _, part := range []string{"**What it means.**", "**How to look.**", "**What to do.**"} {
			if !strings.Contains(sections[a.Name], part) {
				t.Errorf("the section %s of the runbook has no %s", a.Name, part)
			}
		}
		if want := "docs/runbook.md#" + strings.ToLower(a.Name); !strings.HasSuffix(a.RunbookURL(), want) {
			t.Errorf("the runbook_url of %s is %s, want one that ends with %s", a.Name, a.RunbookURL(), want)
		}
	}
	if !slices.Equal(sectionNames, alerts) {
		t.Errorf("the runbook's sections are\n%v, want the alerts in their order:\n%v", sectionNames, alerts)
	}
}

var promqlBlock = regexp.MustCompile("(?s)```promql\n(.*?)```")

func TestRunbookQueriesUseNamesOfTheSchema(t *testing.T) {
	_, sections := runbook(t)
	for name, text := range sections {
		for _, m := range promqlBlock.FindAllStringSubmatch(text, -1) {
			checkNames(t, "runbook, "+name, m[1])
		}
	}
}

var (
	fires = regexp.MustCompile(`alertname: (\w+)\n +exp_alerts:`)
	quiet = regexp.MustCompile(`\{eval_time: \w+, alertname: (\w+)\}`)
)

// TestEveryAlertIsTestedBeforeWhileAndAfterFiring checks alerts_test.yaml, which promtool runs.
func TestEveryAlertIsTestedBeforeWhileAndAfterFiring(t *testing.T) {
	tested := map[string]bool{}
	for part := range strings.SplitSeq(read(t, "alerts_test.yaml"), "\n  - interval:") {
		at := fires.FindStringSubmatchIndex(part)
		if at == nil {
			continue
		}
		name := part[at[2]:at[3]]
		isQuiet := func(text string) bool {
			return slices.ContainsFunc(quiet.FindAllStringSubmatch(text, -1), func(m []string) bool { return m[1] == name })
		}
		tested[name] = tested[name] || isQuiet(part[:at[0]]) && isQuiet(part[at[1]:])
	}
	for _, a := range dashboard.Alerts() {
		if !tested[a.Name] {
			t.Errorf("alerts_test.yaml does not test that %s is silent, fires, and is silent again", a.Name)
		}
	}
}

func TestEveryRuleIsTested(t *testing.T) {
	tests := read(t, "rules_test.yaml")
	for _, g := range dashboard.Recordings() {
		for _, r := range g.Rules {
			if !strings.Contains(tests, "expr: '"+r.Record+"'") {
				t.Errorf("rules_test.yaml does not test %s", r.Record)
			}
		}
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
