package schema_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mcpotel/mcpotel/internal/instrument/schema"
)

// TestStableRowsDoNotChangeWithinMajorVersion compares the schema with the promises of all versions with the same major
// number. The file of promises only grows: -update adds to it.
func TestStableRowsDoNotChangeWithinMajorVersion(t *testing.T) {
	major, _, _ := strings.Cut(schema.Current.Version, ".")
	path := filepath.Join("testdata", "stable-"+major+".txt")
	data, err := os.ReadFile(path)
	if err != nil && !*update {
		t.Fatal(err)
	}
	promised, now := strings.Fields(strings.ReplaceAll(string(data), " ", "·")), promises(schema.Current)
	for _, p := range promised {
		if !slices.Contains(now, p) {
			t.Errorf("version %s promises %q; to withdraw this, increase the first number of the version",
				major, strings.ReplaceAll(p, "·", " "))
		}
	}
	all := slices.Concat(promised, now)
	slices.Sort(all)
	text := strings.ReplaceAll(strings.Join(slices.Compact(all), "\n")+"\n", "·", " ")
	checkFile(t, path, text)
}

// promises returns the content of the stable rows, one fact per line, with a dot for each space.
func promises(d schema.Definition) (lines []string) {
	add := func(format string, args ...any) {
		lines = append(lines, strings.ReplaceAll(fmt.Sprintf(format, args...), " ", "·"))
	}
	for _, a := range d.Attributes {
		if a.Stability != schema.Stable {
			continue
		}
		add("attribute %s is a %s in %q, %s", a.Key, a.Type, a.Unit, a.Bound)
		for _, v := range a.Enum {
			add("attribute %s may be %s", a.Key, v)
		}
	}
	for _, m := range d.Metrics {
		if m.Stability != schema.Stable {
			continue
		}
		add("metric %s is a %s in %s", m.Name, m.Instrument, m.Unit)
		for _, u := range m.Attrs {
			add("metric %s has %s, %s", m.Name, u.Key, u.Need)
		}
	}
	for _, e := range d.Events {
		if e.Stability != schema.Stable {
			continue
		}
		for _, l := range e.Levels {
			add("event %s is logged at %v", e.Name, l)
		}
		for _, u := range e.Fields {
			add("event %s has %s, %s", e.Name, u.Key, u.Need)
		}
	}
	return lines
}
