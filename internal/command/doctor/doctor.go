// Package doctor finds out whether an MCP server and the telemetry around it are healthy, and says what to do if not.
//
// Start with [Examine], which examines one server, and [OpenPipeline], which examines where the telemetry of this
// process goes. Each returns checks, in an order that does not depend on what is found.
//
// An examination has two parts. It first gathers facts: it connects, asks for harmless things only and hangs up, with
// witnesses around the transport, the HTTP client and the log (facts.go, tap.go, web.go, witness.go). Then a table of
// checks judges the facts (table.go); a judge does nothing but read them.
//
// What may surprise:
//
//   - Nothing is changed at the server: no tool is called, no client is registered, no person logs in.
//   - A server that departs from the specification and can be used all the same does not fail: it is warned of.
//   - A server that this package starts exports its telemetry to this process for the time of the examination, and not
//     to the Collector that the environment names.
//   - [Check.Found] has texts of the server as they came, up to 2 KiB: show them by package visible.
package doctor

import (
	"context"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// Verdict is what comes of a check.
type Verdict string

// The verdicts, from the best to the worst. A check that was skipped counts for nothing.
const (
	Skipped Verdict = "skipped" // it could not be made, or has no meaning for this server
	OK      Verdict = "ok"
	Note    Verdict = "note" // healthy, and worth knowing
	Warn    Verdict = "warn" // it can be used, and something should be changed
	Fail    Verdict = "fail" // it cannot be used, or a part of it cannot
)

var severity = map[Verdict]int{Skipped: 0, OK: 1, Note: 2, Warn: 3, Fail: 4}

// Check is one question and its answer.
type Check struct {
	Name    string  `json:"name"` // one of [Names]
	Verdict Verdict `json:"verdict"`
	Found   string  `json:"found"`           // in one sentence, with figures
	Do      string  `json:"do,omitempty"`    // what to do about it
	Needs   string  `json:"needs,omitempty"` // the check for which this one was skipped
}

// Report is what an examination of one server has found.
type Report struct {
	Server    string        `json:"server"`
	Verdict   Verdict       `json:"verdict"`   // the worst of its checks
	Connected bool          `json:"connected"` // there was a session
	Took      time.Duration `json:"-"`
	Seconds   float64       `json:"seconds"` // Took
	Checks    []Check       `json:"checks"`
}

// Worst returns the worst verdict of some checks, OK without any.
func Worst(checks []Check) Verdict {
	worst := OK
	for _, c := range checks {
		if severity[c.Verdict] > severity[worst] {
			worst = c.Verdict
		}
	}
	return worst
}

// Server is what is examined.
type Server struct {
	Name      string              // for people
	Transport transport.Transport // a [transport.Stdio] or a [*transport.HTTP]
}

// DefaultTimeout is how long the examination of a server takes at most.
const DefaultTimeout = 10 * time.Second

// Options of an examination. The zero value works.
type Options struct {
	// Timeout bounds the whole. Zero means [DefaultTimeout].
	Timeout time.Duration

	ClientInfo mcp.Implementation
	Versions   []mcp.Version       // see [mcpclient.Options]
	Features   []mcpclient.Feature // likewise
	// NoListening, if true, leaves out the check that opens a subscription, as for clients with that option.
	NoListening bool

	Roomy int // how many names of tools metrics tell apart; zero means the default

	// Log hears of all that the client does, beside the examination. Nil means that it is not told.
	Log slog.Handler

	// Tracers make the spans of the examination's own requests. Nil means spans that are exported to no place.
	Tracers trace.TracerProvider
}

// Examine examines a server. It returns when Timeout has passed or ctx has ended, with what has been found by then, and
// leaves nothing behind.
func Examine(ctx context.Context, s Server, o *Options) *Report {
	e := newExamination(s, o)
	f := e.gather(ctx)
	r := &Report{Server: s.Name, Connected: f.session != nil, Took: time.Since(e.begun), Checks: judge(f)}
	r.Seconds = r.Took.Round(time.Millisecond).Seconds()
	r.Verdict = Worst(r.Checks)
	return r
}
