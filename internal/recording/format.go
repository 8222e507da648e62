// Package recording is the file that "mcpotel proxy --record" writes and that "mcpotel mock", "mcpotel replay" and
// "mcpotel diff" read: the messages between a host and a server, one a line. docs/recording.md has each member.
//
// Its parts are pure but for [Writer], which writes lines in a goroutine of its own.
package recording

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/mcpotel/mcpotel/internal/jsonscan"
)

// Version is the version of the format.
const Version = 1

// Header is the first line of a file.
type Header struct {
	Version  int       `json:"mcpotel_recording"`
	Recorded time.Time `json:"recorded"`
	Server   string    `json:"server"`
	Program  string    `json:"program,omitempty"`
	Content  bool      `json:"content"`
	Redacted string    `json:"redacted,omitempty"` // what stands in place of what was redacted
}

// End is the last line of a file that was not cut.
type End struct {
	End     bool   `json:"end"`
	Entries int    `json:"entries"`
	Why     string `json:"why,omitempty"` // it ends before the last message; empty if it has all
}

// Side is the one that a message comes from.
type Side string

// The sides.
const (
	HostSide   Side = "host"
	ServerSide Side = "server"
)

// Kind says what a message is.
type Kind string

// The kinds. Cancelled is for a request that the side which made it has cancelled, or has left.
const (
	Request      Kind = "request"
	Notification Kind = "notification"
	Result       Kind = "result"
	Error        Kind = "error"
	Cancelled    Kind = "cancelled"
)

// contentOf is the name of the member that has the content of a kind.
var contentOf = map[Kind]string{
	Request: "params", Notification: "params", Cancelled: "params", Result: "result", Error: "error",
}

// Entry is a message, a line of a file.
type Entry struct {
	Session   int             `json:"session"`
	Seq       int             `json:"seq"`
	AtUS      int64           `json:"at_us"` // microseconds since Header.Recorded
	From      Side            `json:"from"`
	Kind      Kind            `json:"kind"`
	Method    string          `json:"method"`
	Request   int             `json:"request,omitempty"` // joins a request and what becomes of it; zero for a notification
	Name      string          `json:"name,omitempty"`    // of the tool or prompt, or the URI
	Bytes     int             `json:"bytes"`             // of the params, the result or the error
	TookUS    int64           `json:"took_us,omitempty"` // microseconds from a request to its answer
	Code      int64           `json:"code,omitempty"`    // of an error
	ToolError bool            `json:"tool_error,omitempty"`
	TraceID   string          `json:"trace_id,omitempty"`
	SpanID    string          `json:"span_id,omitempty"`
	ID        json.RawMessage `json:"id,omitempty"` // of subscriptions/listen, as the host wrote it

	Content json.RawMessage `json:"-"` // nil for none
}

// At is when the message came, since the recording began.
func (e *Entry) At() time.Duration { return time.Duration(e.AtUS) * time.Microsecond }

// Took is how long a request has taken, of its answer.
func (e *Entry) Took() time.Duration { return time.Duration(e.TookUS) * time.Microsecond }

// Answers reports whether it is what became of a request.
func (e *Entry) Answers() bool { return e.Kind == Result || e.Kind == Error || e.Kind == Cancelled }

// AppendLine appends a line. Its content stays byte for byte, which encoding/json would not leave as it is.
func (e *Entry) AppendLine(dst []byte) []byte {
	number := func(name string, n int64, always bool) {
		if n != 0 || always {
			dst = strconv.AppendInt(append(append(append(dst, `,"`...), name...), `":`...), n, 10)
		}
	}
	text := func(name, s string, always bool) {
		if s != "" || always {
			dst = jsonscan.AppendString(append(append(append(dst, `,"`...), name...), `":`...), s)
		}
	}
	dst = strconv.AppendInt(append(dst, `{"session":`...), int64(e.Session), 10)
	number("seq", int64(e.Seq), true)
	number("at_us", e.AtUS, true)
	text("from", string(e.From), true)
	text("kind", string(e.Kind), true)
	text("method", e.Method, true)
	number("request", int64(e.Request), false)
	text("name", e.Name, false)
	number("bytes", int64(e.Bytes), true)
	number("took_us", e.TookUS, false)
	number("code", e.Code, false)
	if e.ToolError {
		dst = append(dst, `,"tool_error":true`...)
	}
	text("trace_id", e.TraceID, false)
	text("span_id", e.SpanID, false)
	if e.ID != nil {
		dst = append(append(dst, `,"id":`...), e.ID...)
	}
	if e.Content != nil {
		dst = append(append(append(dst, `,"`...), contentOf[e.Kind]...), `":`...)
		dst = append(dst, e.Content...)
	}
	return append(dst, '}', '\n')
}

// line returns a header or an end as a line.
func line(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // these types always can
	}
	return append(text, '\n')
}
