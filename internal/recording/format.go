// Package recording reads and writes the files of "mcpotel proxy --record", which "mcpotel mock", "mcpotel replay"
// and "mcpotel diff" read: one message between a host and a server on each line. docs/recording.md describes every
// member.
//
// All functions are pure except [Writer], which writes in its own goroutine.
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
	Redacted string    `json:"redacted,omitempty"` // placeholder for redacted text
}

// End is the last line of a complete file.
type End struct {
	End     bool `json:"end"`
	Entries int  `json:"entries"`
	// why the recording ended before the last message; empty if it is complete
	Why string `json:"why,omitempty"`
}

// Side is the sender of a message.
type Side string

// Sides of a connection.
const (
	HostSide   Side = "host"
	ServerSide Side = "server"
)

// Kind is the kind of a message.
type Kind string

// Kinds of messages. Cancelled ends a request that its sender has cancelled or abandoned.
const (
	Request      Kind = "request"
	Notification Kind = "notification"
	Result       Kind = "result"
	Error        Kind = "error"
	Cancelled    Kind = "cancelled"
)

// contentOf maps a kind to the member with its content.
var contentOf = map[Kind]string{
	Request: "params", Notification: "params", Cancelled: "params", Result: "result", Error: "error",
}

// Entry is one message, a line of a file.
type Entry struct {
	Session int    `json:"session"`
	Seq     int    `json:"seq"`
	AtUS    int64  `json:"at_us"` // microseconds since Header.Recorded
	From    Side   `json:"from"`
	Kind    Kind   `json:"kind"`
	Method  string `json:"method"`
	// number that joins a request and its answer; zero for a notification
	Request   int             `json:"request,omitempty"`
	Name      string          `json:"name,omitempty"`    // name of the tool or prompt, or URI of the resource
	Bytes     int             `json:"bytes"`             // size of the params, the result or the error
	TookUS    int64           `json:"took_us,omitempty"` // microseconds from the request to this answer
	Code      int64           `json:"code,omitempty"`    // error code
	ToolError bool            `json:"tool_error,omitempty"`
	TraceID   string          `json:"trace_id,omitempty"`
	SpanID    string          `json:"span_id,omitempty"`
	ID        json.RawMessage `json:"id,omitempty"` // id of a subscriptions/listen request, as the host wrote it

	Content json.RawMessage `json:"-"` // params, result or error; nil if it was not recorded
}

// At returns the time of the message relative to the start of the recording.
func (e *Entry) At() time.Duration { return time.Duration(e.AtUS) * time.Microsecond }

// Took returns the time from the request to this answer.
func (e *Entry) Took() time.Duration { return time.Duration(e.TookUS) * time.Microsecond }

// Answers reports whether the entry ends a request.
func (e *Entry) Answers() bool { return e.Kind == Result || e.Kind == Error || e.Kind == Cancelled }

// AppendLine appends the entry as a line. It keeps the content byte for byte, which encoding/json does not.
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

// line encodes a header or an end as a line.
func line(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // unreachable: Header and End always encode
	}
	return append(text, '\n')
}
