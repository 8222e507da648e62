package mcpproxy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/internal/recording"
	"github.com/mcpotel/mcpotel/internal/relay"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// recordingOf lets a host log in through a proxy with this recorder.
func recordingOf(t *testing.T, v mcp.Version, r *Recorder, tel *telemetry.Telemetry) {
	t.Helper()
	s := mcpserver.New(mcp.Implementation{Name: "server", Version: "1"}, nil)
	add(t, s, "login", func(ctx context.Context, in login) (login, error) {
		_, err := mcpserver.RequestFrom(ctx).Elicit(ctx, &mcp.ElicitParams{Message: "for sk-1?", RequestedSchema: []byte(
			`{"type":"object","properties":{"password":{"type":"string"}}}`)})
		return login{User: "ada sk-2", Token: "the token"}, err
	})
	add(t, s, "refuse", func(context.Context, login) (login, error) {
		return login{}, &mcp.Error{Code: 7, Message: "not sk-3", Data: []byte(`{"token":"the token"}`)}
	})
	proxy, err := New(transport.InMemory(func(ctx context.Context, peer *transport.Peer) { _ = s.Serve(ctx, peer) }),
		&Options{Name: "recorded", Recorder: r, Telemetry: tel,
			Policy: &Policy{Redaction: Redaction{Patterns: []string{`sk-\d+`}}}})
	if err != nil {
		t.Fatal(err)
	}
	c, err := mcpclient.Connect(t.Context(), transport.InMemory(func(ctx context.Context, peer *transport.Peer) {
		_ = proxy.Serve(ctx, peer)
	}), &mcpclient.Options{Versions: []mcp.Version{v}, Telemetry: tel, Features: []mcpclient.Feature{
		mcpclient.HandleElicitation(func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: mcp.ElicitAccept, Content: map[string]any{"password": "the password"}}, nil
		}),
	}})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := c.CallTool(t.Context(), "login", login{User: "ada sk-4", Token: "my token"}); err != nil {
		t.Error(err)
	} else if !strings.Contains(got.Text(), "the token") {
		t.Errorf("the host got %s, want everything that the policy permits", got.Text())
	}
	if _, err := c.CallTool(t.Context(), "refuse", login{}); err == nil {
		t.Error("got no error")
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

func TestSecretsAreNotRecorded(t *testing.T) {
	for _, v := range []mcp.Version{mcp.Version20251125, mcp.Version20260728} {
		synctest.Test(t, func(t *testing.T) {
			var file bytes.Buffer
			r := NewRecorder(&file, &RecorderOptions{Content: true})
			rec := telemetrytest.Recorder(t)
			recordingOf(t, v, r, rec.Telemetry())
			if err := r.Close(); err != nil {
				t.Error(err)
			}
			text := file.String()
			for _, secret := range []string{"sk-", "the token", "my token", "the password"} {
				if strings.Contains(text, secret) {
					t.Errorf("%s: %q is in\n%s", v, secret, text)
				}
			}
			for _, want := range []string{
				`{"user":"ada [redacted]","token":"[redacted]"}`, `"password":"[redacted]"`, `"password":{"type":"string"}`,
				`"message":"not [redacted]"`, `"code":7`, `"server":"recorded"`, `"redacted":"[redacted]"`,
			} {
				if !strings.Contains(text, want) {
					t.Errorf("%s: %s is missing in\n%s", v, want, text)
				}
			}
			f, err := recording.Parse(file.Bytes())
			if err != nil || f.Cut {
				t.Fatalf("%s: got %+v, %v", v, f, err)
			}
			spans := map[string]bool{}
			for _, span := range rec.Spans() {
				spans[span.SpanContext().TraceID().String()+span.SpanContext().SpanID().String()] = true
			}
			for _, e := range f.Entries {
				if e.From == recording.HostSide && e.Kind == recording.Request && !spans[e.TraceID+e.SpanID] {
					t.Errorf("%s: %s has the trace id %q and the span id %q, not those of a span", v, e.Method, e.TraceID, e.SpanID)
				}
			}
		})
	}
}

func TestRecordingWithoutContentHasNamesAndSizes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var file bytes.Buffer
		r := NewRecorder(&file, nil)
		recordingOf(t, mcp.Version20251125, r, telemetry.Off())
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		text := file.String()
		for _, content := range []string{"ada", "token", "password", "params", "result\":", "error\":", "message", "for "} {
			if strings.Contains(text, content) {
				t.Errorf("%q is in\n%s", content, text)
			}
		}
		for _, want := range []string{`"name":"login"`, `"kind":"error"`, `"code":7`, `"method":"elicitation/create"`} {
			if !strings.Contains(text, want) {
				t.Errorf("%s is missing in\n%s", want, text)
			}
		}
	})
}

func TestRecorderBelongsToOneProxy(t *testing.T) {
	tr := transport.InMemory(func(context.Context, *transport.Peer) {})
	r := NewRecorder(new(bytes.Buffer), nil)
	if _, err := New(tr, &Options{Recorder: r}); err != nil {
		t.Fatal(err)
	}
	if _, err := New(tr, &Options{Recorder: r}); err == nil || !strings.Contains(err.Error(), "is in use") {
		t.Errorf("got %v", err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if _, err := New(tr, &Options{Recorder: NewRecorder(nil, &RecorderOptions{Limit: -1})}); err == nil {
		t.Error("got no error for a negative limit")
	}
	if err := NewRecorder(nil, nil).Close(); err != nil {
		t.Errorf("got %v from a recorder without a proxy", err)
	}
}

type full struct{ bytes.Buffer }

var errFull = errors.New("no space left on device")

func (*full) Write([]byte) (int, error) { return 0, errFull }

func TestMessagesPassWhenRecordingFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := make(chan error, 2)
		r := NewRecorder(new(full), &RecorderOptions{Stopped: func(err error) { told <- err }})
		recordingOf(t, mcp.Version20251125, r, telemetry.Off())
		if err := r.Close(); !errors.Is(err, errFull) || len(told) != 1 {
			t.Errorf("got %v, notified %d times", err, len(told))
		}
	})
}

// hanging blocks each write until its channel is closed.
type hanging chan struct{}

func (h hanging) Write(b []byte) (int, error) { <-h; return len(b), nil }

func TestRecorderCloseAbandonsAHangingWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := make(hanging)
		defer close(disk)
		r := NewRecorder(disk, nil)
		if _, err := New(transport.InMemory(func(context.Context, *transport.Peer) {}), &Options{Recorder: r}); err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		if err := r.Close(); !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) != 5*time.Second {
			t.Errorf("Close returned %v after %v, want an error after 5 s", err, time.Since(begun))
		}
	})
}

// TestRecordedMembersAreRedactedBeforeCutting puts secrets into each recorded part of a message, around the positions
// at which names are cut.
func TestRecordedMembersAreRedactedBeforeCutting(t *testing.T) {
	secret := "sk-" + strings.Repeat("z", 40)
	policy := &Policy{Redaction: Redaction{Keys: []string{"uri"}, Patterns: []string{`sk-z{40}`}}}
	params := func(member, value string) json.RawMessage {
		return json.RawMessage(`{"` + member + `":"` + value + `"}`)
	}
	for at := 1024 - len(secret) - 2; at <= 1026; at++ {
		hidden := strings.Repeat("a", at) + secret
		for name, m := range map[string]relay.Message{
			"method": {Method: hidden},
			"name":   {Method: mcp.MethodCallTool, Params: params("name", hidden)},
			"uri":    {Method: mcp.MethodReadResource, Params: params("uri", "file:///a/zzzz")},
			"params": {Method: mcp.MethodCallTool, Params: params("a", hidden)},
			"id":     {Method: mcp.MethodSubscriptionsListen, ID: json.RawMessage(`"` + hidden + `"`)},
		} {
			for _, content := range []bool{false, true} {
				var file bytes.Buffer
				r := NewRecorder(&file, &RecorderOptions{Content: content})
				if err := r.begin("server", policy); err != nil {
					t.Fatal(err)
				}
				tape := r.tape()
				tape.told(t.Context(), recording.HostSide, m)
				answer := tape.asked(t.Context(), recording.HostSide, m, func(json.RawMessage, error) {})
				answer(nil, &mcp.Error{Code: 1, Message: hidden})
				if err := r.Close(); err != nil {
					t.Fatal(err)
				}
				if strings.Contains(file.String(), "zzz") {
					t.Fatalf("%s, %d bytes before it, content %t: a part of the secret is in\n%s", name, at, content, &file)
				}
			}
		}
	}
}
