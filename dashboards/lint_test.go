package dashboards

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// board is the part of a dashboard's file that the lint checks.
type board struct {
	file string

	UID, Title, Description string
	ID                      *int
	SchemaVersion           int
	Tags                    []string
	Links                   []struct {
		Type, URL             string
		Tags                  []string
		IncludeVars, KeepTime bool
	}
	Templating struct{ List []variable }
	Panels     []panel
}

type variable struct {
	Name, Label, Type string
	Datasource        struct{ UID string }
	Query             json.RawMessage
	Definition        string
}

type panel struct {
	ID                       int
	Type, Title, Description string
	GridPos                  struct{ X, Y, W, H int }
	Datasource               struct{ Type, UID string }
	Targets                  []target
	FieldConfig              struct {
		Defaults  struct{ Unit, NoValue string }
		Overrides []struct {
			Matcher    struct{ ID, Options string }
			Properties []struct {
				ID    string
				Value json.RawMessage
			}
		}
	}
	Transformations []struct {
		ID      string
		Options struct {
			RenameByName  map[string]string
			ExcludeByName map[string]bool
		}
	}
}

type target struct {
	RefID, Expr, LegendFormat, Format, Interval string
	Instant, Range, Exemplar                    bool
	Datasource                                  struct{ Type, UID string }
}

func boards(t *testing.T) (all []board) {
	t.Helper()
	files, err := filepath.Glob("*.json")
	if err != nil || len(files) != 5 {
		t.Fatalf("got the dashboards %v (%v), want five", files, err)
	}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		b := board{file: f}
		if err := json.Unmarshal(data, &b); err != nil {
			t.Fatalf("%s: %v", f, err)
		}
		all = append(all, b)
	}
	return all
}

// drawn returns the panels with queries.
func (b board) drawn() []panel {
	return slices.DeleteFunc(slices.Clone(b.Panels), func(p panel) bool { return p.Type == "row" })
}

func TestDashboardFilesCanBeImported(t *testing.T) {
	uids := map[string]string{}
	for _, b := range boards(t) {
		if b.ID != nil {
			t.Errorf("%s: id %d, want none: Grafana assigns it", b.file, *b.ID)
		}
		if b.UID != "mcpotel-"+strings.TrimSuffix(b.file, ".json") || len(b.UID) > 40 || uids[b.UID] != "" {
			t.Errorf("%s: uid %q, want a unique uid of up to 40 characters that matches the file name", b.file, b.UID)
		}
		uids[b.UID] = b.file
		if b.Title == "" || !isSentence(b.Description) || b.SchemaVersion == 0 {
			t.Errorf("%s: want title, description and schema version, got %q, %q, %d", b.file, b.Title, b.Description,
				b.SchemaVersion)
		}
		if len(b.Links) != 1 || !b.Links[0].IncludeVars || !b.Links[0].KeepTime ||
			!slices.Contains(b.Tags, b.Links[0].Tags[0]) {
			t.Errorf("%s: want links to the other dashboards that keep time and variables, got %+v", b.file, b.Links)
		}
	}
}

func TestPanelsHaveTitlesAndDescriptions(t *testing.T) {
	for _, b := range boards(t) {
		titles := map[string]bool{}
		for _, p := range b.drawn() {
			where := b.file + ": " + p.Title
			if p.Title == "" || titles[p.Title] {
				t.Errorf("%s: want a unique title", where)
			}
			titles[p.Title] = true
			if !isSentence(p.Description) || len(p.Description) < 40 {
				t.Errorf("%s: want a description of at least 40 characters that is a sentence, got %q", where, p.Description)
			}
			if p.FieldConfig.Defaults.NoValue == "" {
				t.Errorf("%s: want a text for no data", where)
			}
			if len(p.Targets) == 0 {
				t.Errorf("%s: want a query", where)
			}
		}
	}
}

func isSentence(s string) bool {
	return s != "" && strings.HasSuffix(s, ".") && s == strings.TrimSpace(s)
}

// unitOf maps a panel's unit to a pattern for the names of its metrics.
var unitOf = map[string]*regexp.Regexp{
	"s":     regexp.MustCompile(`_seconds(_bucket|_sum|_count)?$`),
	"bytes": regexp.MustCompile(`_bytes(_bucket|_sum|_count)?$`),
	"Bps":   regexp.MustCompile(`_bytes(_sum)?$`),
	"reqps": regexp.MustCompile(`_seconds(_count)?$`), "cps": regexp.MustCompile(`(_count|_total|_seconds|_bytes)$`),
	"cpm":         regexp.MustCompile(`(_count|_total|_seconds|_bytes)$`),
	"percentunit": regexp.MustCompile(`(_count|_total|_seconds|_(usage|limit)(_bytes)?)$`),
	"short":       regexp.MustCompile(``),
	"locale":      regexp.MustCompile(``),
}

func TestPanelsHaveTheUnitOfTheirMetrics(t *testing.T) {
	for _, b := range boards(t) {
		for _, p := range b.drawn() {
			names, ok := unitOf[p.FieldConfig.Defaults.Unit]
			if !ok {
				t.Errorf("%s: %s: unknown unit %q", b.file, p.Title, p.FieldConfig.Defaults.Unit)
				continue
			}
			for _, q := range p.Targets {
				for _, s := range parse(q.Expr).selectors {
					if s.name != "" && !hasSuffix(s.name, "_start_time_seconds", "_info") && p.Type != "table" &&
						!names.MatchString(s.name) {
						t.Errorf("%s: %s: %s is not in the unit %s", b.file, p.Title, s.name, p.FieldConfig.Defaults.Unit)
					}
				}
				of := strings.Contains(q.Expr, "or 0 *") || strings.Contains(q.Expr, "_usage") // a limit
				if ratio := strings.Contains(q.Expr, "> 0)") && of; p.Type != "table" &&
					ratio != (p.FieldConfig.Defaults.Unit == "percentunit") {
					t.Errorf("%s: %s: want the unit percentunit for ratios, and only for ratios", b.file, p.Title)
				}
			}
		}
	}
}

func TestPanelsDoNotOverlapAndIDsAreUnique(t *testing.T) {
	for _, b := range boards(t) {
		ids, taken := map[int]bool{}, map[[2]int]string{}
		for _, p := range b.Panels {
			if p.ID <= 0 || ids[p.ID] {
				t.Errorf("%s: %s: id %d is zero or already used", b.file, p.Title, p.ID)
			}
			ids[p.ID] = true
			g := p.GridPos
			if g.W <= 0 || g.H <= 0 || g.X < 0 || g.X+g.W > 24 {
				t.Errorf("%s: %s: %+v is outside the grid", b.file, p.Title, g)
			}
			for x := g.X; x < g.X+g.W; x++ {
				for y := g.Y; y < g.Y+g.H; y++ {
					if other := taken[[2]int{x, y}]; other != "" {
						t.Fatalf("%s: %s overlaps %s", b.file, p.Title, other)
					}
					taken[[2]int{x, y}] = p.Title
				}
			}
		}
	}
}

func TestPanelRowsFillTheWidth(t *testing.T) {
	for _, b := range boards(t) {
		width := map[int]int{}
		for _, p := range b.Panels {
			width[p.GridPos.Y] += p.GridPos.W
		}
		for y, w := range width {
			if w != 24 {
				t.Errorf("%s: total width of the panels at y=%d: %d, want 24", b.file, y, w)
			}
		}
	}
}

func TestDataSourcesAreVariables(t *testing.T) {
	const source = "${datasource}"
	for _, b := range boards(t) {
		for _, v := range b.Templating.List {
			if v.Type == "query" && v.Datasource.UID != source {
				t.Errorf("%s: variable %s queries %q, want %s", b.file, v.Name, v.Datasource.UID, source)
			}
		}
		for _, p := range b.drawn() {
			if p.Datasource.UID != source {
				t.Errorf("%s: %s queries %q, want %s", b.file, p.Title, p.Datasource.UID, source)
			}
			refs := map[string]bool{}
			for _, q := range p.Targets {
				if q.Datasource.UID != source || q.RefID == "" || refs[q.RefID] {
					t.Errorf("%s: %s: query %q queries %q, want a unique name and the data source %s", b.file, p.Title, q.RefID,
						q.Datasource.UID, source)
				}
				refs[q.RefID] = true
			}
		}
	}
}

var reference = regexp.MustCompile(`\$\{?([a-z_]+)\b`)

// builtIn are Grafana's built-in variables.
var builtIn = []string{"__rate_interval", "__rate_interval_ms", "__range", "__range_s", "__url_time_range", "__from",
	"__to", "__data", "__all"}

func TestVariablesAreDeclaredAndUsed(t *testing.T) {
	for _, b := range boards(t) {
		data, err := os.ReadFile(b.file)
		if err != nil {
			t.Fatal(err)
		}
		used := map[string]bool{}
		for _, m := range reference.FindAllStringSubmatch(string(data), -1) {
			used[m[1]] = true
		}
		for _, v := range b.Templating.List {
			if !used[v.Name] && v.Name != "traces" {
				t.Errorf("%s: the variable %s is not used", b.file, v.Name)
			}
			if v.Label == "" {
				t.Errorf("%s: the variable %s has no label", b.file, v.Name)
			}
			delete(used, v.Name)
		}
		for name := range used {
			if !slices.Contains(builtIn, name) {
				t.Errorf("%s: no variable is named %s", b.file, name)
			}
		}
	}
}
