package doctor

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
)

// tools returns n tools.
func tools(n int) (all []*mcp.Tool) {
	for i := range n {
		all = append(all, &mcp.Tool{Name: fmt.Sprintf("tool-%d", i), InputSchema: json.RawMessage(`{"type":"object"}`)})
	}
	return all
}

// withSchema returns a tool with this input schema.
func withSchema(text string) []*mcp.Tool {
	return []*mcp.Tool{{Name: "odd", InputSchema: json.RawMessage(text)}}
}

// offering returns the facts about a server with these tools.
func offering(items []*mcp.Tool) *facts {
	f := &facts{witness: newWitness(nil), limits: newLimits(0), toolNameLimit: 200}
	f.offers.tools = list[*mcp.Tool]{asked: true, items: items}
	for _, t := range items {
		f.offers.tools.bytes += sizeOf(t)
	}
	return f
}

func TestListChecksHaveVerdicts(t *testing.T) {
	broken := offering(tools(2))
	broken.offers.tools.err = errors.New("no answer in time")
	cut := offering(tools(4))
	cut.offers.tools.err = fmt.Errorf("%w: the server returned the cursor \"x\" twice", mcpclient.ErrListCutShort)
	large := tools(1)
	large[0].Description = strings.Repeat("long ", manyBytes/5)
	for name, tc := range map[string]struct {
		judge func(*facts) answer
		facts *facts
		want  string
	}{
		"some tools":        {toolsListed, offering(tools(3)), "ok: 3 tools, 147 B as JSON, the largest is tool-0 with"},
		"no tools":          {toolsListed, offering(nil), "note: the server declares tools, but lists none"},
		"a list that fails": {toolsListed, broken, "fail: the list of tools failed after 2: no answer in time"},
		"a list that is cut short": {toolsListed, cut,
			`warn: 4 tools, 196 B as JSON, and there may be more: the list is incomplete, because its cursors ` +
				`cannot be followed: the server returned `},
		"a large list": {toolsListed, offering(large), "note: 1 tool, 100 KiB as JSON"},
		"a name with " +
			"spaces": {toolsListed, offering([]*mcp.Tool{{Name: "two words"}}), `1 invalid or duplicate name: "two words"`},
		"a name twice": {toolsListed, offering(append(tools(1), tools(1)...)), `1 invalid or duplicate name: "tool-0"`},
		"many odd names": {toolsListed, offering([]*mcp.Tool{{}, {}, {}, {}, {}, {}, {}}),
			`7 invalid or duplicate names: "", "", "", "", "" and 2 more`},
		"good schemas":       {schemas, offering(tools(3)), "ok: 3 schemas, all usable"},
		"no schemas":         {schemas, offering(nil), "skipped: there are no tools"},
		"no schema":          {schemas, offering(withSchema(`{"type":7}`)), "warn: 1 of 1 schemas are unusable: odd"},
		"an unknown dialect": {schemas, offering(withSchema(`{"$schema":"urn:x"}`)), "unsupported schema dialect"},
		"a pattern of JavaScript": {schemas, offering(withSchema(`{"type":"object","properties":{"a":{"type":"string",` +
			`"pattern":"(?=a)"}}}`)), "note: 1 of 1 schemas are not checked: odd, input: "},
		"an invalid header": {schemas, offering(withSchema(`{"type":"object","properties":{"a":{"type":"number",` +
			`"x-mcp-header":"A"}}}`)), "warn: 1 of 1 schemas are unusable: odd, over HTTP: "},
		"few names":  {cardinality, offering(tools(150)), "ok: 150 tools and 0 prompts; metrics distinguish 200 names"},
		"many names": {cardinality, offering(tools(151)), "note: 151 tools"},
		"too many": {cardinality, offering(tools(201)), "warn: 201 tools and 0 prompts; metrics distinguish 200 names, " +
			"and"},
	} {
		t.Run(name, func(t *testing.T) {
			a := tc.judge(tc.facts)
			if text := string(a.verdict) + ": " + a.found; !strings.Contains(text, tc.want) {
				t.Errorf("want %q, got %q", tc.want, text)
			}
			if severity[a.verdict] > severity[OK] && a.do == "" {
				t.Errorf("%s without advice", a.verdict)
			}
		})
	}
}

func TestPingUsesTheMedian(t *testing.T) {
	for _, tc := range []struct {
		took []time.Duration
		err  error
		want string
	}{
		{[]time.Duration{1e6, 2e6, 9e6}, nil, "ok: 2.00ms, the median of 3; from 1.00ms to 9.00ms"},
		{[]time.Duration{2e9}, nil, "warn: 2.00s"},
		{[]time.Duration{1e6}, errors.New("lost"), "warn: 1.00ms, the median of 1; from 1.00ms to 1.00ms; then: lost"},
		{nil, errors.New("lost"), "fail: no answer: lost"},
	} {
		a := pinged(&facts{pings: tc.took, pingErr: tc.err})
		if text := string(a.verdict) + ": " + a.found; !strings.HasPrefix(text, tc.want) {
			t.Errorf("want %q, got %q", tc.want, text)
		}
	}
}

func TestListenCheckDetectsUnansweredSubscriptions(t *testing.T) {
	tools := mcp.SubscriptionFilter{ToolsListChanged: true}
	lost := errors.New("no answer within 2s")
	for _, tc := range []struct {
		notListening bool
		l            listenFacts
		want         string
	}{
		{true, listenFacts{}, "skipped: the client is configured not to listen"},
		{false, listenFacts{}, "skipped: the server declares no list changes"},
		{false, listenFacts{tools, true, 1e6, nil, nil}, "ok: subscriptions/listen was acknowledged after 1.00ms"},
		{false, listenFacts{tools, false, 2e9, nil, lost}, "fail: the server stops answering after subscriptions/listen"},
		{false, listenFacts{tools, true, 1e6, nil, lost}, "fail: the server stops answering after subscriptions/listen"},
		{false, listenFacts{tools, false, 1e6, lost, nil}, "warn: the server declares list changes, but rejects"},
		{false, listenFacts{tools, false, 2e9, nil, nil}, "warn: the server has not acknowledged subscriptions/listen"},
	} {
		f := facts{noListening: tc.notListening, listening: tc.l, session: &session{version: mcp.Version20260728}}
		a := listens(&f)
		if text := string(a.verdict) + ": " + a.found; !strings.HasPrefix(text, tc.want) {
			t.Errorf("want %q, got %q", tc.want, text)
		}
		if severity[a.verdict] > severity[OK] && a.do == "" {
			t.Errorf("%s without advice", a.verdict)
		}
	}
	if a := listens(&facts{session: &session{version: mcp.Version20251125}}); a.verdict != Skipped {
		t.Errorf("a legacy server: got %+v", a)
	}
}

// TestDoctorPageListsEachCheck compares docs/doctor.md with the table of checks.
func TestDoctorPageListsEachCheck(t *testing.T) {
	page, err := os.ReadFile("../../../docs/doctor.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "## The checks")
	table, _, _ = strings.Cut(table, "## For programs")
	for _, name := range Names() {
		if !strings.Contains(table, "| `"+name+"` |") {
			t.Errorf("docs/doctor.md has no row for %s", name)
		}
	}
	if n := strings.Count(table, "\n| `"); n != len(Names()) {
		t.Errorf("docs/doctor.md has %d rows, want a row for each of %v", n, Names())
	}
}

func TestPropagationOverHTTPRecommendsTrustTraceContext(t *testing.T) {
	got := joined(&facts{trace: "0af7651916cd43dd8448eb211c80319c", url: &urlFacts{}, session: &session{}})
	if !strings.Contains(got.do, "HTTPOptions.TrustTraceContext") {
		t.Errorf("got %+v, want the option", got)
	}
}
