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

// modern reports whether client and server agreed on a revision of the modern era.
func (f *facts) modern() bool { return f.session != nil && f.session.version.Era() == mcp.Modern }

// handshake judges what client and server agreed on.
func handshake(f *facts) answer {
	switch {
	case f.session == nil && f.url != nil && f.url.login.request() != nil:
		return answer{Skipped, "it needs an authorization", ""}
	case f.session == nil:
		return answer{Fail, f.err.Error(), "-v logs what the client does; docs/guides/troubleshooting.md goes on by symptom"}
	}
	s := f.session
	era := "legacy"
	if f.modern() {
		era = "modern"
	}
	found := fmt.Sprintf("%s %s speaks %s (%s era), ready after %s, and has %s", s.server.Name, s.server.Version,
		s.version, era, unit.Duration(s.ready), cmp.Or(strings.Join(capabilities(&s.capabilities), ", "), "nothing to offer"))
	switch {
	case s.attempts > 2:
		return answer{Note, fmt.Sprintf("%s; it took %d connections", found, s.attempts), "look at why the others ended: -v"}
	case !f.modern() && f.url == nil && s.ready > f.probe() && firstWordLate(f):
		return answer{Note, found + "; it was silent on server/discover", noProbe(f)}
	case !f.modern() && f.url != nil && s.ready > f.probe():
		return answer{Note, found + "; it was silent on server/discover", noProbe(f)}
	}
	return answer{OK, found, ""}
}

// probe is how long the client waits for the answer to server/discover.
func (f *facts) probe() time.Duration { return f.limits.attempt / 4 }

// firstWordLate reports whether the client had given up the probe when the server first spoke.
func firstWordLate(f *facts) bool {
	f.tap.mu.Lock()
	defer f.tap.mu.Unlock()
	return f.tap.spoke.Sub(f.tap.dialed) >= f.probe()
}

// noProbe says how to connect without the probe.
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

// messages judges what the server said that is JSON and breaks the protocol. What is no JSON is for stdout; over HTTP
// it counts here.
func messages(f *facts) answer {
	violations := f.witness.violated()
	if f.url == nil {
		delete(violations, jsonrpc.InvalidJSON.String())
	}
	n := 0
	for _, of := range violations {
		n += of
	}
	if n == 0 {
		return answer{OK, "all are in order", ""}
	}
	return answer{Warn, fmt.Sprintf("%s the protocol (%s)", plural(n, "1 breaks", fmt.Sprintf("%d break", n)),
		strings.Join(slices.Sorted(maps.Keys(violations)), ", ")), "update the server, or its SDK; -v logs each"}
}

func pinged(f *facts) answer {
	if len(f.pings) == 0 {
		return answer{Fail, fmt.Sprintf("no answer: %v", f.pingErr), "a server answers ping, and a modern one " +
			"server/discover, whatever else it does"}
	}
	median := f.pings[len(f.pings)/2]
	found := fmt.Sprintf("%s, the median of %d; from %s to %s", unit.Duration(median), len(f.pings),
		unit.Duration(f.pings[0]), unit.Duration(f.pings[len(f.pings)-1]))
	switch {
	case f.pingErr != nil:
		return answer{Warn, fmt.Sprintf("%s; then: %v", found, f.pingErr), "the connection comes and goes: -v"}
	case median > time.Second:
		return answer{Warn, found, "each round trip takes as long: move the server nearer, or look at its load"}
	}
	return answer{OK, found, ""}
}

// A list of tools that is larger than this, as JSON, is worth a note: hosts put all of it before the model.
const manyBytes = 100 << 10

func toolsListed(f *facts) answer {
	tools := f.offers.tools
	if errors.Is(tools.err, mcpclient.ErrListCutShort) && len(tools.items) > 0 {
		return answer{Warn, fmt.Sprintf("%s, and there may be more: %v", quantity(len(tools.items), "tool", tools.bytes),
			tools.err), "let each page have a cursor of its own, and the last page none: clients use these tools and no more"}
	}
	if a, done := listed(tools.asked, len(tools.items), tools.bytes, tools.err, "tool"); done || len(tools.items) == 0 {
		return a
	}
	largest := slices.MaxFunc(tools.items, func(a, b *mcp.Tool) int { return cmp.Compare(sizeOf(a), sizeOf(b)) })
	found := fmt.Sprintf("%s, the largest is %s with %s", quantity(len(tools.items), "tool", tools.bytes), largest.Name,
		unit.Size(int64(sizeOf(largest))))
	if odd := oddNames(tools.items); len(odd) > 0 {
		return answer{Warn, fmt.Sprintf("%s; %d %s no good name: %s", found, len(odd), plural(len(odd), "has", "have"),
			among(odd)), "name tools with 1 to 128 of the characters A-Z a-z 0-9 _ - . and each once: hosts refuse others"}
	}
	if tools.bytes > manyBytes {
		return answer{Note, found, "hosts put all of that before the model: offer fewer tools, or shorter descriptions"}
	}
	return answer{OK, found, ""}
}

// oddNames returns the names that the specification does not allow, and those that are there twice.
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

// maxShown bounds how many of something are named.
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

// listed judges a list, and reports whether that is all that there is to say.
func listed(asked bool, n, bytes int, err error, of string) (_ answer, done bool) {
	switch {
	case !asked:
		return answer{Skipped, "the server declares no " + of + "s", ""}, true
	case err != nil:
		return answer{Fail, fmt.Sprintf("the list of %ss broke off after %d: %v", of, n, err), "the server declares " + of +
			"s, and has to list them"}, true
	case n == 0:
		return answer{Note, "the server declares " + of + "s, and lists none", "some servers list more to those who are " +
			"authorized, or later"}, true
	}
	return answer{OK, quantity(n, of, bytes), ""}, false
}

func resourcesListed(f *facts) answer {
	o := f.offers
	err := errors.Join(o.resources.err, o.templates.err)
	n, size := len(o.resources.items)+len(o.templates.items), o.resources.bytes+o.templates.bytes
	if errors.Is(o.templates.err, mcp.ErrMethodNotFound) && o.resources.err == nil {
		err = nil // there are servers that have resources, and do not know the list of templates
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

// schemas judges whether the schemas of the tools can be used.
func schemas(f *facts) answer {
	if len(f.offers.tools.items) == 0 {
		return answer{Skipped, "there are no tools", ""}
	}
	var broken, unchecked []string
	for _, r := range f.witness.refused() {
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
		return answer{Warn, fmt.Sprintf("%d of %d schemas cannot be used: %s", len(broken), n, among(broken)),
			"write them in JSON Schema 2020-12 or draft-07; calls of these tools may be refused"}
	case len(unchecked) > 0:
		return answer{Note, fmt.Sprintf("%d of %d schemas are not checked: %s", len(unchecked), n, among(unchecked)),
			"write patterns that RE2 has too, without look-around and back references"}
	}
	return answer{OK, count(n, "schema") + ", all can be used", ""}
}

// joined judges whether the server's spans are in the trace of the client's requests.
func joined(f *facts) answer {
	if f.trace == "" {
		return answer{Skipped, "no trace is sampled: OTEL_SDK_DISABLED or OTEL_TRACES_SAMPLER says so", ""}
	}
	if f.url != nil {
		return answer{Note, fmt.Sprintf("not seen from here; traceparent was sent, in _meta%s, with trace id %s",
			map[bool]string{true: " and as a header"}[f.modern()], f.trace),
			"look for that trace where the server exports to. If the server's spans are in another trace, with a link to " +
				"this one, it does not know its client: a server of this module joins the two with " +
				"HTTPOptions.TrustTraceContext, or a principal as behind bearer.Require"}
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
		return answer{Note, fmt.Sprintf("%s exports spans, and none for what the doctor asks for",
			cmp.Or(all[0].Service(), "the server")), `"mcpotel call --trace TOOL" shows whether calls of tools join the trace`}
	case len(all) > 0:
		return answer{Warn, fmt.Sprintf("%s exports spans, %d of them, in traces of their own", all[0].Service(), len(all)),
			"let the server read traceparent from the _meta of requests: docs/guides/trace-a-call.md has how"}
	}
	return answer{Note, "the server exported no span over OTLP", "instrument it, if it is yours; the client's spans " +
		"tell how long calls take all the same"}
}

// cardinality judges how many names of tools and prompts the metrics of a client of this server have.
func cardinality(f *facts) answer {
	tools, prompts := len(f.offers.tools.items), len(f.offers.prompts.items)
	n := tools + prompts
	found := fmt.Sprintf("%s and %s; metrics tell %d names apart", count(tools, "tool"), count(prompts, "prompt"), f.roomy)
	switch {
	case n > f.roomy:
		return answer{Warn, found + ", the others are _OTHER", fmt.Sprintf("telemetry.WithToolNameLimit(%d), and an SDK "+
			"whose limit of series allows that: docs/telemetry.md", n)}
	case n > f.roomy*3/4:
		return answer{Note, found, "there is room for few more: telemetry.WithToolNameLimit"}
	}
	return answer{OK, found, ""}
}
