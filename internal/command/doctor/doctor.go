// Package doctor checks the health of an MCP server and of the telemetry pipeline, and recommends fixes.
//
// Start with [Examine], which examines one server, and [OpenPipeline], which examines the export of this process's
// telemetry. Each returns its checks in a fixed order.
//
// An examination has two steps. It first collects facts: it connects, sends read-only requests and disconnects, while
// recorders around the transport, the HTTP client and the log store facts (facts.go, tap.go, web.go, witness.go). Then
// a table of checks evaluates the facts (table.go). A check only reads the facts.
//
// Four properties matter:
//
//   - The examination does not change the server: it calls no tool, registers no client and does not log in.
//   - A server that violates the specification but remains usable gets a warning, not a failure.
//   - A server process that this package starts exports its telemetry to this process during the examination, and not
//     to the Collector in its environment.
//   - [Check.Found] contains unescaped texts of the server, up to 2 KiB: format them with package visible.
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

// Verdict is the result of a check.
type Verdict string

// Verdicts, from the best to the worst. Skipped checks do not count.
const (
	Skipped Verdict = "skipped" // the check was not possible, or does not apply to this server
	OK      Verdict = "ok"
	Note    Verdict = "note" // healthy, with a remark
	Warn    Verdict = "warn" // usable, but should be changed
	Fail    Verdict = "fail" // unusable, at least in part
)

var severity = map[Verdict]int{Skipped: 0, OK: 1, Note: 2, Warn: 3, Fail: 4}

// Check is the result of one check.
type Check struct {
	Name    string  `json:"name"` // one of [Names]
	Verdict Verdict `json:"verdict"`
	Found   string  `json:"found"`        // one sentence with figures
	Do      string  `json:"do,omitempty"` // recommended action
	// name of the check that prevented this check, because that check failed or was skipped
	Needs string `json:"needs,omitempty"`
}

// Report is the result of the examination of one server.
type Report struct {
	Server    string        `json:"server"`
	Verdict   Verdict       `json:"verdict"`   // worst verdict of Checks
	Connected bool          `json:"connected"` // a session was established
	Took      time.Duration `json:"-"`
	Seconds   float64       `json:"seconds"` // Took in seconds
	Checks    []Check       `json:"checks"`
}

// Worst returns the worst verdict of checks, or OK if there are none.
func Worst(checks []Check) Verdict {
	worst := OK
	for _, c := range checks {
		if severity[c.Verdict] > severity[worst] {
			worst = c.Verdict
		}
	}
	return worst
}

// Server identifies the server to examine.
type Server struct {
	Name      string              // for display
	Transport transport.Transport // a [transport.Stdio] or a [*transport.HTTP]
}

// DefaultTimeout bounds the examination of a server.
const DefaultTimeout = 10 * time.Second

// Options configures an examination. The zero value is usable.
type Options struct {
	// Timeout bounds the whole examination. Zero means [DefaultTimeout].
	Timeout time.Duration

	ClientInfo mcp.Implementation
	Versions   []mcp.Version       // see [mcpclient.Options]
	Features   []mcpclient.Feature // see [mcpclient.Options]
	// NoListening skips the check that opens a subscription, as in [mcpclient.Options].
	NoListening bool

	ToolNameLimit int // number of distinct tool names in metrics; zero means the default

	// Log also receives all log records of the client. Nil discards them.
	Log slog.Handler

	// Tracers creates the spans of the examination's requests. Nil means spans that are not exported.
	Tracers trace.TracerProvider
}

// Examine examines a server, and releases all its resources. When Timeout has passed or ctx has ended, it reports
// what it has found so far.
func Examine(ctx context.Context, s Server, o *Options) *Report {
	e := newExamination(s, o)
	f := e.collect(ctx)
	r := &Report{Server: s.Name, Connected: f.session != nil, Took: time.Since(e.start), Checks: judge(f)}
	r.Seconds = r.Took.Round(time.Millisecond).Seconds()
	r.Verdict = Worst(r.Checks)
	return r
}
