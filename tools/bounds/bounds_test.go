package bounds

import (
	"flag"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/bounds.md anew")

// root is the repository's root directory.
const root = "../.."

// watched are the packages in which everything that grows needs a row or an exception.
var watched = []string{
	"mcpclient", "mcpclient/transport", "mcpclient/transport/chaos", "internal/inlet",
	"mcpclient/auth", "mcpclient/auth/internal/dpop",
	"mcpclient/auth/internal/metadata",
	"internal/client/conn", "internal/client/inflight", "internal/client/serving", "internal/relay/downstream",
	"internal/relay/upstream",
	"mcpclient/telemetry", "internal/instrument", "internal/server/engine",
	"internal/server/quota", "internal/server/rates", "internal/server/rpc",
	"internal/server/tasks", "internal/server/web",
	"internal/server/introduction", "internal/instrument/settings", "mcpclient/telemetry/tailsampling",
	"internal/instrument/flight", "internal/instrument/series", "internal/instrument/records",
	"internal/instrument/propagate",
	"mcpproxy",
	"mcpserver", "mcpserver/store", "mcpserver/bearer", "mcpserver/redisstore", "internal/ndjson", "internal/sse",
	"internal/schema",
	"internal/otlpsink", "internal/scrape",
	"internal/recording", "internal/running", "internal/grow", "internal/jsonrpc", "internal/jsonscan",
	"internal/mirror", "inspect",
}

func TestPageMatchesTheTable(t *testing.T) {
	const file = root + "/docs/bounds.md"
	want, err := newSource(root).page()
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != want {
		t.Errorf("%s is not what the table says (%v); run go -C tools generate ./bounds", file, err)
	}
}

func TestEveryNameInTheTableExists(t *testing.T) {
	s := newSource(root)
	known := func(about, name string) {
		if _, err := s.object(name); err != nil {
			t.Errorf("%s: %v", about, err)
		}
	}
	for _, a := range areas {
		for _, r := range a.rows {
			if r.what == "" || r.bound == "" || r.full == "" || len(r.where) == 0 {
				t.Errorf("%s: a row lacks a text: %+v", a.title, r)
			}
			if (r.weighs == "") != (r.holder == noTotal) {
				t.Errorf("%s: a weight is in a total, and what is in one has a weight", r.what)
			}
			for _, name := range r.where {
				known(r.what, name)
			}
			if r.option != "" {
				known(r.what, r.option)
			}
			if !s.hasTest(r.test) {
				t.Errorf("%s: there is no test %s", r.what, r.test)
			}
		}
	}
}

func TestEveryMeasurementHasATest(t *testing.T) {
	s := newSource(root)
	for _, m := range measured {
		if !s.hasTest(m.test) || m.peak > m.limit {
			t.Errorf("%s: want the test %s, and %d no more than %d", m.attack, m.test, m.peak, m.limit)
		}
	}
}

func TestEveryGrowingFieldIsInTheTable(t *testing.T) {
	s := newSource(root)
	var grow []string
	for _, path := range watched {
		members, err := s.members(path)
		if err != nil {
			t.Fatal(err)
		}
		grow = append(grow, members...)
	}
	stands := map[string]bool{}
	for _, a := range areas {
		for _, r := range a.rows {
			for _, name := range r.where {
				stands[name] = true
			}
		}
	}
	for _, e := range exceptions {
		for _, name := range e.names {
			if stands[name] {
				t.Errorf("%s stands twice", name)
			}
			if stands[name] = true; !slices.ContainsFunc(grow, func(member string) bool { return covers(name, member) }) {
				t.Errorf("%s is an exception and does not grow", name)
			}
		}
	}
	for _, member := range grow {
		kind := member[:strings.LastIndexByte(member, '.')+1] + "*"
		if !stands[member] && !stands[kind] {
			t.Errorf("%s may grow: what bounds it? Add a row, or a reason why it needs none", member)
		}
	}
}

// covers reports whether an exception (a member, or all fields of a type) covers a member.
func covers(name, member string) bool {
	all, ok := strings.CutSuffix(name, "*")
	return name == member || ok && strings.HasPrefix(member, all)
}

func TestUnitsAreShown(t *testing.T) {
	s := newSource(root)
	for text, want := range map[string]string{
		"{mcpclient.maxItems / 2 + 1}":                          "50,001",
		"{mcpclient.maxItems} items":                            "100,000 items",
		"{bytes mcpclient.DefaultFrameLimit}":                   "16 MiB",
		"{bytes 2 * mcpclient.Options.CacheSize + 524288}":      "8.5 MiB",
		"{time mcpserver.HTTPTimeouts.Session}":                 "30 min",
		"{mcpserver.Limits.Queued} and {bytes 7}":               "1,024 and 7 bytes",
		"{bytes mcpclient.Limits.Frame}, as is":                 "16 MiB, as is",
		"{time 1500000000} or {time 250000000}, or {bytes 768}": "1,500 ms or 250 ms, or 768 bytes",
	} {
		if got, err := s.fill(text); err != nil || got != want {
			t.Errorf("%q: got %q, %v, want %q", text, got, err, want)
		}
	}
	for _, text := range []string{"{mcpclient.noSuchThing}", "{mcpclient.Client}", "{mcpclient.Options.Name}",
		"{nowhere.x}"} {
		if got, err := s.fill(text); err == nil {
			t.Errorf("%q: got %q, want an error", text, got)
		}
	}
}
