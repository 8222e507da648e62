package mcpproxy

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/internal/jsonscan"
	"github.com/mcpotel/mcpotel/internal/recording"
	"github.com/mcpotel/mcpotel/internal/relay"
	"github.com/mcpotel/mcpotel/mcp"
)

// RecorderOptions configure a Recorder. The zero value of each field means its default.
type RecorderOptions struct {
	// Content records the params, results and errors of messages; "mcpotel mock", "mcpotel replay" and mcptest.Replay
	// need them. Without Content, a recording has the names of methods, tools and prompts, URIs, sizes, durations,
	// error codes and trace ids. Before it writes messages of either side, the recorder replaces values that the
	// proxy's policy redacts, and values with a name such as password or token (see docs/recording.md).
	Content bool

	// Limit bounds the size of the recording, in bytes. The recording ends at the limit. Zero means 1 GiB, the maximum
	// that can be read.
	Limit int64

	// Stopped is called once if a recording ends before Close, with the reason: the limit, a failed write, or writes so
	// slow that 64 MiB wait for them. The messages of the proxy do not wait for Stopped. Nil means no call.
	Stopped func(error)
}

// Recorder writes the messages of one proxy, or of one client, as lines of JSON. A recording has no gaps: if a write
// fails or is too slow, the recording ends, and the messages continue without it. A Recorder is safe for concurrent
// use.
type Recorder struct {
	to io.Writer
	o  RecorderOptions

	mu       sync.Mutex
	out      *recording.Writer // guarded by mu; nil before the proxy exists
	begun    time.Time         // guarded by mu until out is set
	secrets  *secrets          // guarded by mu until out is set
	sessions int               // guarded by mu
	requests int               // guarded by mu
	entries  int               // guarded by mu
}

// NewRecorder returns a recorder that writes to w after a proxy uses it as [Options.Recorder], or after a client uses
// [Recorder.Transport]. The recorder writes whole lines, and its calls of Write do not overlap. Close it after the last
// host has left, or after the client has closed. A nil o means the defaults.
func NewRecorder(w io.Writer, o *RecorderOptions) *Recorder {
	return &Recorder{to: w, o: *cmp.Or(o, new(RecorderOptions))}
}

// closePatience bounds the time for writing the remaining entries. The entries have at most 64 MiB, which disks write
// in less time.
const closePatience = 5 * time.Second

// Close writes the remaining entries. If the recording ended earlier, Close returns the reason. If a write hangs, Close
// abandons it after 5 s and returns an error.
func (r *Recorder) Close() error {
	r.mu.Lock()
	out := r.out
	r.mu.Unlock()
	if out == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), closePatience)
	defer cancel()
	return out.Close(ctx)
}

// secretKeys lists names of members whose values are never recorded, in addition to the policy's keys.
var secretKeys = []string{
	"password", "passwd", "passphrase", "secret", "client_secret", "clientSecret", "token", "access_token", "accessToken",
	"refresh_token", "refreshToken", "id_token", "idToken", "auth_token", "authToken", "api_key", "apiKey", "api-key",
	"x-api-key", "private_key", "privateKey", "authorization", "cookie", "set-cookie", "credentials",
}

// begin starts the recording for a proxy. name is the name of the server.
func (r *Recorder) begin(name string, p *Policy) error {
	said := Redaction{}
	if p != nil {
		said = p.Redaction
	}
	hidden := Redaction{Keys: slices.Concat(said.Keys, secretKeys), Patterns: said.Patterns, With: said.With}
	own, err := newSecrets(&hidden)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.out != nil:
		return errors.New("the recorder is in use: each proxy and each client needs a recorder of its own")
	case r.o.Limit < 0:
		return errors.New("the limit of the recorder is negative")
	}
	h := recording.Header{
		Version: recording.Version, Recorded: time.Now().UTC(), Server: name, Program: program(), Content: r.o.Content,
		Redacted: cmp.Or(hidden.With, defaultWith),
	}
	r.begun, r.secrets = time.Now(), own
	r.out = recording.NewWriter(r.to, h, r.o.Limit, r.o.Stopped)
	return nil
}

// program returns the path of this program's main module, with its version.
func program() string {
	if b, ok := debug.ReadBuildInfo(); ok {
		return b.Main.Path + " " + cmp.Or(b.Main.Version, "(devel)")
	}
	return ""
}

// tape records the session of one host.
type tape struct {
	*Recorder
	session int
}

// tape returns the tape for a new session. It returns nil without a recorder.
func (r *Recorder) tape() *tape {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sessions++
	return &tape{r, r.sessions}
}

// asked records a request. It returns an answer function that records the answer, too.
func (t *tape) asked(ctx context.Context, from recording.Side, m relay.Message, answer relay.Answer) relay.Answer {
	if t == nil {
		return answer
	}
	outcome := t.request(ctx, from, m)
	return func(result json.RawMessage, err error) {
		outcome(ctx, result, err)
		answer(result, err)
	}
}

// request records a request. It returns a function that records the outcome. If the context of that function has ended,
// an error means that the request was cancelled.
func (t *tape) request(ctx context.Context, from recording.Side, m relay.Message) (
	outcome func(context.Context, json.RawMessage, error)) {
	e := t.entry(ctx, from, recording.Request, m)
	if m.Method == mcp.MethodSubscriptionsListen {
		e.ID = t.content(m.ID, part{})
	}
	begun := time.Now()
	n := t.write(e, true)
	answered := recording.Entry{Method: e.Method, Name: e.Name, Request: n, TraceID: e.TraceID, SpanID: e.SpanID}
	return func(ctx context.Context, result json.RawMessage, err error) {
		own := answered
		own.TookUS = time.Since(begun).Microseconds()
		t.answered(ctx, from, &own, result, err)
	}
}

// answered records the outcome of a request. asked is the side that has sent the request.
func (t *tape) answered(ctx context.Context, asked recording.Side, e *recording.Entry, result json.RawMessage,
	err error) {
	e.From, e.Kind = recording.HostSide, recording.Result
	if asked == recording.HostSide {
		e.From = recording.ServerSide
	}
	in := part{noKeys: definitions[e.Method], schema: asksForInput}
	content := result
	switch {
	case err == nil:
		e.ToolError = e.Method == mcp.MethodCallTool && failed(result)
	case ctx.Err() != nil:
		e.From, e.Kind, in = asked, recording.Cancelled, part{}
		content = reason(context.Cause(ctx))
	default:
		e.Kind, in = recording.Error, part{below: 1}
		content, e.Code = errorObject(err)
	}
	e.Bytes, e.Content = len(content), t.content(content, in)
	t.write(e, false)
}

// told records a notification.
func (t *tape) told(ctx context.Context, from recording.Side, m relay.Message) {
	if t != nil {
		t.write(t.entry(ctx, from, recording.Notification, m), false)
	}
}

// entry returns the entry of a request or notification.
func (t *tape) entry(ctx context.Context, from recording.Side, kind recording.Kind, m relay.Message) *recording.Entry {
	span := trace.SpanContextFromContext(ctx)
	e := &recording.Entry{
		From: from, Kind: kind, Method: t.word("method", m.Method), Name: t.target(m.Params), Bytes: len(m.Params),
	}
	if span.IsValid() {
		e.TraceID, e.SpanID = span.TraceID().String(), span.SpanID().String()
	}
	in := part{}
	if m.Method == mcp.MethodElicit {
		in.schema = asksAtOnce
	}
	e.Content = t.content(m.Params, in)
	return e
}

// redacted returns JSON without secrets. Every recorded part of a message is redacted before it is cut, because a
// pattern does not match a part of a secret.
func (t *tape) redacted(raw json.RawMessage, in part) json.RawMessage {
	redacted, _ := t.secrets.redact(raw, in)
	return redacted
}

// content returns the recorded form of a content. It is nil if the recording has no content.
func (t *tape) content(raw json.RawMessage, in part) json.RawMessage {
	if !t.o.Content || raw == nil {
		return nil
	}
	return t.redacted(raw, in)
}

// word returns the recorded form of a member's value. It is redacted, and then cut to 1 KiB.
func (t *tape) word(member, value string) (word string) {
	raw := append(jsonscan.AppendString([]byte{'{'}, member), ':')
	raw = append(jsonscan.AppendString(raw, value), '}')
	_, _ = mcp.Object(t.redacted(raw, part{})).Decode(member, &word) // no error: it is a string
	return cut(word, 1<<10)
}

// target returns the recorded form of the tool, prompt or URI in params.
func (t *tape) target(params json.RawMessage) string {
	for _, member := range []string{"name", "uri"} {
		var value string
		if _, _ = mcp.Object(params).Decode(member, &value); value != "" { // a value that is not a string names no target
			return t.word(member, value)
		}
	}
	return ""
}

// write writes an entry and returns the number of its request. Entries are written in the order of the calls.
func (t *tape) write(e *recording.Entry, numbered bool) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	if numbered {
		t.requests++
		e.Request = t.requests
	}
	t.entries++
	e.Session, e.Seq, e.AtUS = t.session, t.entries, time.Since(t.begun).Microseconds()
	t.out.Write(e)
	return e.Request
}

// failed reports whether the result of a tool call reports an error.
func failed(result json.RawMessage) (is bool) {
	_, _ = mcp.Object(result).Decode("isError", &is) // a value that is not a boolean does not report an error
	return is
}

// reason returns the params of notifications/cancelled for a reason.
func reason(why error) json.RawMessage {
	text, _ := json.Marshal(map[string]string{"reason": why.Error()}) // never fails for a string
	return text
}

// errorObject returns the JSON object of an error, as the peer gets it, and the code of the error.
func errorObject(err error) (object json.RawMessage, code int64) {
	if passed, ok := errors.AsType[*relay.Error](err); ok {
		return passed.Object, int64(passed.Server.Code)
	}
	own, ok := errors.AsType[*mcp.Error](err)
	if !ok {
		own = &mcp.Error{Code: mcp.CodeInternalError, Message: err.Error()}
	}
	object, _ = json.Marshal(struct {
		Code    int64           `json:"code"`
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data,omitempty"`
	}{int64(own.Code), own.Message, own.Data})
	return object, int64(own.Code)
}
