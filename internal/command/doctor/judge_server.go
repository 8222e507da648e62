package doctor

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/internal/mirror"
	"github.com/mcpotel/mcpotel/internal/otlpsink"
	"github.com/mcpotel/mcpotel/internal/schema"
	"github.com/mcpotel/mcpotel/internal/unit"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
)

// modern reports whether the negotiated revision belongs to the modern era.
func (f *facts) modern() bool { return f.session != nil && f.session.version.Era() == mcp.Modern }

// handshake checks the result of the handshake.
func handshake(f *facts) answer {
	switch {
	case f.session == nil && f.url != nil && f.url.login.request() != nil:
		return answer{Skipped, "authorization is required", ""}
	case f.session == nil:
		return answer{Fail, f.err.Error(), "run with -v to log the client's steps; see docs/guides/troubleshooting.md"}
	}
	s := f.session
	era := "legacy"
	if f.modern() {
		era = "modern"
	}
	found := fmt.Sprintf("%s %s speaks %s (%s era), ready after %s, and has %s", s.server.Name, s.server.Version,
		s.version, era, unit.Duration(s.ready), cmp.Or(strings.Join(capabilities(&s.capabilities), ", "), "no capabilities"))
	switch {
	case s.attempts > 2:
		return answer{Note, fmt.Sprintf("%s; it took %d connections", found, s.attempts), "run with -v to see why the " +
			"others ended"}
	case !f.modern() && f.url == nil && s.ready > f.probe() && firstFrameLate(f):
		return answer{Note, found + "; it did not answer server/discover", noProbe(f)}
	case !f.modern() && f.url != nil && s.ready > f.probe():
		return answer{Note, found + "; it did not answer server/discover", noProbe(f)}
	}
	return answer{OK, found, ""}
}

// probe returns how long the client waits for the answer to server/discover.
func (f *facts) probe() time.Duration { return f.limits.attempt / 4 }

// firstFrameLate reports whether the server's first frame came after the probe had timed out.
func firstFrameLate(f *facts) bool {
	f.tap.mu.Lock()
	defer f.tap.mu.Unlock()
	return f.tap.firstFrame.Sub(f.tap.dialed) >= f.probe()
}

// noProbe returns the advice to connect without the probe.
func noProbe(f *facts) string {
	return fmt.Sprintf("Options.Versions (--pin-version %s) connects without server/discover", f.session.version)
}

func capabilities(c *mcp.ServerCapabilities) (all []string) {
	for _, has := range []struct {
		name string
		it   bool
	}{
		{"tools", c.Tools != nil}, {"resources", c.Resources != nil}, {"prompts", c.Prompts != nil},
		{"completions", c.Completions != nil}, {"logging", c.Logging != nil}, {"tasks", c.Tasks != nil},
	} {
		if has.it {
			all = append(all, has.name)
		}
	}
	for name := range c.Extensions {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

// messages checks for JSON that violates the protocol. Over HTTP, it also reports messages that are not JSON; over
// stdio, the check stdout reports them.
func messages(f *facts) answer {
	violations := f.witness.violationCounts()
	if f.url == nil {
		delete(violations, jsonrpc.InvalidJSON.String())
	}
	n := 0
	for _, of := range violations {
		n += of
	}
	if n == 0 {
		return answer{OK, "all are valid", ""}
	}
	return answer{Warn, fmt.Sprintf("%s the protocol (%s)", plural(n, "1 violates", fmt.Sprintf("%d violate", n)),
		strings.Join(slices.Sorted(maps.Keys(violations)), ", ")), "update the server, or its SDK; run with -v to log each"}
}

func pinged(f *facts) answer {
	if len(f.pings) == 0 {
		return answer{Fail, fmt.Sprintf("no answer: %v", f.pingErr), "a server must answer ping, and a modern server " +
			"server/discover"}
	}
	median := f.pings[len(f.pings)/2]
	found := fmt.Sprintf("%s, the median of %d; from %s to %s", unit.Duration(median), len(f.pings),
		unit.Duration(f.pings[0]), unit.Duration(f.pings[len(f.pings)-1]))
	switch {
	case f.pingErr != nil:
		return answer{Warn, fmt.Sprintf("%s; then: %v", found, f.pingErr), "the connection is unstable; run with -v to " +
			"see why"}
	case median > time.Second:
		return answer{Warn, found, "every call takes at least this long: move the server closer to the client, or check " +
			"its load"}
	}
	return answer{OK, found, ""}
}

// manyBytes is the minimum JSON size of a list of tools that gets a note: hosts send the whole list to the model.
const manyBytes = 100 << 10

func toolsListed(f *facts) answer {
	tools := f.offers.tools
	if errors.Is(tools.err, mcpclient.ErrListCutShort) && len(tools.items) > 0 {
		return answer{Warn, fmt.Sprintf("%s, and there may be more: %v", quantity(len(tools.items), "tool", tools.bytes),
			tools.err), "give each page its own cursor, and the last page none: clients only use these tools"}
	}
	if a, done := listed(tools.asked, len(tools.items), tools.bytes, tools.err, "tool"); done || len(tools.items) == 0 {
		return a
	}
	largest := slices.MaxFunc(tools.items, func(a, b *mcp.Tool) int { return cmp.Compare(sizeOf(a), sizeOf(b)) })
	found := fmt.Sprintf("%s, the largest is %s with %s", quantity(len(tools.items), "tool", tools.bytes), largest.Name,
		unit.Size(int64(sizeOf(largest))))
	if odd := oddNames(tools.items); len(odd) > 0 {
		return answer{Warn, fmt.Sprintf("%s; %d invalid or duplicate %s: "+
			"%s", found, len(odd), plural(len(odd), "name", "names"),
			among(odd)), "use unique names of 1 to 128 characters from A-Z a-z 0-9 _ - . because hosts reject others"}
	}
	if tools.bytes > manyBytes {
		return answer{Note, found, "hosts send the whole list to the model: offer fewer tools, or shorter descriptions"}
	}
	return answer{OK, found, ""}
}

// oddNames returns tool names that violate the specification, and duplicate names.
func oddNames(tools []*mcp.Tool) (odd []string) {
	seen := map[string]bool{}
	for _, t := range tools {
		plain := !strings.ContainsFunc(t.Name, func(r rune) bool {
			return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '_' || r == '-' || r == '.')
		})
		if !plain || t.Name == "" || len(t.Name) > 128 || seen[t.Name] {
			odd = append(odd, fmt.Sprintf("%.64q", t.Name))
		}
		seen[t.Name] = true
	}
	return odd
}

// maxShown bounds the number of names in a text.
const maxShown = 5

func among(names []string) string {
	if len(names) <= maxShown {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:maxShown], ", "), len(names)-maxShown)
}

func quantity(n int, of string, bytes int) string {
	return fmt.Sprintf("%s, %s as JSON", count(n, of), unit.Size(int64(bytes)))
}

// listed checks a list. done reports that no further checks are possible.
func listed(asked bool, n, bytes int, err error, of string) (_ answer, done bool) {
	switch {
	case !asked:
		return answer{Skipped, "the server declares no " + of + "s", ""}, true
	case err != nil:
		return answer{Fail, fmt.Sprintf("the list of %ss failed after %d: %v", of, n, err), "a server that declares " + of +
			"s must list them"}, true
	case n == 0:
		return answer{Note, "the server declares " + of + "s, but lists none", "some servers list more to authorized " +
			"clients, or later"}, true
	}
	return answer{OK, quantity(n, of, bytes), ""}, false
}

func resourcesListed(f *facts) answer {
	o := f.offers
	err := errors.Join(o.resources.err, o.templates.err)
	n, size := len(o.resources.items)+len(o.templates.items), o.resources.bytes+o.templates.bytes
	if errors.Is(o.templates.err, mcp.ErrMethodNotFound) && o.resources.err == nil {
		err = nil // some servers have resources but do not implement resources/templates/list
	}
	a, done := listed(o.resources.asked, n, size, err, "resource")
	if !done {
		a.found = fmt.Sprintf("%s and %s, %s as JSON", count(len(o.resources.items), "resource"),
			count(len(o.templates.items), "template"), unit.Size(int64(size)))
	}
	return a
}

func promptsListed(f *facts) answer {
	p := f.offers.prompts
	a, _ := listed(p.asked, len(p.items), p.bytes, p.err, "prompt")
	return a
}

// schemas checks whether the schemas of the tools are usable.
func schemas(f *facts) answer {
	if len(f.offers.tools.items) == 0 {
		return answer{Skipped, "there are no tools", ""}
	}
	var broken, unchecked []string
	for _, r := range f.witness.rejectedTools() {
		broken = append(broken, fmt.Sprintf("%.64s: %s", r.tool, r.why))
	}
	n := 0
	for _, t := range f.offers.tools.items {
		if _, err := mirror.Params(t.InputSchema); err != nil {
			broken = append(broken, fmt.Sprintf("%.64s, over HTTP: %v", t.Name, err))
		}
		for part, text := range map[string][]byte{"input": t.InputSchema, "output": t.OutputSchema} {
			if text == nil {
				continue
			}
			n++
			switch _, err := schema.Compile(text); {
			case errors.Is(err, schema.ErrPattern):
				unchecked = append(unchecked, fmt.Sprintf("%.64s, %s: %v", t.Name, part, err))
			case err != nil:
				broken = append(broken, fmt.Sprintf("%.64s, %s: %v", t.Name, part, err))
			}
		}
	}
	slices.Sort(broken)
	slices.Sort(unchecked)
	switch {
	case len(broken) > 0:
		return answer{Warn, fmt.Sprintf("%d of %d schemas are unusable: %s", len(broken), n, among(broken)),
			"write valid JSON Schema 2020-12 or draft-07; clients may reject calls of these tools"}
	case len(unchecked) > 0:
		return answer{Note, fmt.Sprintf("%d of %d schemas are not checked: %s", len(unchecked), n, among(unchecked)),
			"use patterns that RE2 supports, without look-around and back references"}
	}
	return answer{OK, count(n, "schema") + ", all usable", ""}
}

// joined checks whether the server's spans are in the trace of the client's requests.
func joined(f *facts) answer {
	if f.trace == "" {
		return answer{Skipped, "traces are not sampled, because of OTEL_SDK_DISABLED or OTEL_TRACES_SAMPLER", ""}
	}
	if f.url != nil {
		return answer{Note, fmt.Sprintf("the doctor cannot see the server's spans; it sent traceparent in _meta%s, with "+
			"trace id %s",
			map[bool]string{true: " and as a header"}[f.modern()], f.trace),
			"search for this trace in the server's backend. If the server's spans are in another trace with a link to " +
				"this one, the server does not trust its client: a server of this module joins the two with " +
				"HTTPOptions.TrustTraceContext, or for an authenticated principal (bearer.Require)"}
	}
	if f.command.sinkErr != nil {
		return answer{Skipped, "no receiver for the server's spans: " + f.command.sinkErr.Error(), ""}
	}
	all := f.command.spans
	ours := slices.DeleteFunc(slices.Clone(all), func(s otlpsink.Span) bool { return s.TraceID != f.trace })
	switch {
	case len(ours) > 0:
		return answer{OK, fmt.Sprintf("%s of %s in the trace of the client, such as %q", count(len(ours), "span"),
			cmp.Or(ours[0].Service(), "a service without a name"), ours[0].Kind+" "+ours[0].Name), ""}
	case len(all) > 0 && !slices.ContainsFunc(all, func(s otlpsink.Span) bool { return s.Kind == "SERVER" }):
		return answer{Note, fmt.Sprintf("%s exports spans, but none for the doctor's requests",
			cmp.Or(all[0].Service(), "the server")), `"mcpotel call --trace TOOL" shows whether calls of tools join the trace`}
	case len(all) > 0:
		return answer{Warn, fmt.Sprintf("%s exported %d spans in separate traces", all[0].Service(), len(all)),
			"make the server read traceparent from the _meta of requests: see docs/guides/trace-a-call.md"}
	}
	return answer{Note, "the server exported no span over OTLP", "instrument the server if it is yours; the client's " +
		"spans " +
		"have the durations of calls even without it"}
}

// cardinality checks the number of tool and prompt names in a client's metrics.
func cardinality(f *facts) answer {
	tools, prompts := len(f.offers.tools.items), len(f.offers.prompts.items)
	n := tools + prompts
	found := fmt.Sprintf("%s and %s; metrics distinguish %d "+
		"names", count(tools, "tool"), count(prompts, "prompt"), f.toolNameLimit)
	switch {
	case n > f.toolNameLimit:
		return answer{Warn, found + ", and record the others as " +
			"_OTHER", fmt.Sprintf("use telemetry.WithToolNameLimit(%d), and an "+
			"SDK with a sufficient series limit: see docs/telemetry.md", n)}
	case n > f.toolNameLimit*3/4:
		return answer{Note, found, "the limit is almost reached: raise it with telemetry.WithToolNameLimit"}
	}
	return answer{OK, found, ""}
}
