package mcpproxy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/internal/recording"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// TestClientIsRecordedWithoutProxy records each kind of outcome.
func TestClientIsRecordedWithoutProxy(t *testing.T) {
	for _, v := range []mcp.Version{mcp.Version20251125, mcp.Version20260728} {
		synctest.Test(t, func(t *testing.T) {
			s := mcpserver.New(mcp.Implementation{Name: "server", Version: "1"}, nil)
			add(t, s, "login", func(ctx context.Context, in login) (login, error) {
				_, err := mcpserver.RequestFrom(ctx).Elicit(ctx, &mcp.ElicitParams{Message: "who?", RequestedSchema: []byte(
					`{"type":"object","properties":{"password":{"type":"string"}}}`)})
				return login{User: "ada", Token: "the token"}, err
			})
			add(t, s, "refuse", func(context.Context, login) (login, error) {
				return login{}, &mcp.Error{Code: 7, Message: "no"}
			})
			add(t, s, "hang", func(ctx context.Context, _ login) (login, error) {
				<-ctx.Done()
				return login{}, ctx.Err()
			})
			var file bytes.Buffer
			r, rec := NewRecorder(&file, &RecorderOptions{Content: true}), telemetrytest.Recorder(t)
			inner := transport.InMemory(func(ctx context.Context, peer *transport.Peer) { _ = s.Serve(ctx, peer) })
			recorded, err := r.Transport(inner)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := r.Transport(inner); err == nil {
				t.Error("a second use of the recorder: got no error")
			}
			c, err := mcpclient.Connect(t.Context(), recorded, &mcpclient.Options{Versions: []mcp.Version{v},
				Telemetry: rec.Telemetry(), Features: []mcpclient.Feature{
					mcpclient.HandleElicitation(func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
						return &mcp.ElicitResult{Action: mcp.ElicitAccept, Content: map[string]any{"password": "the password"}}, nil
					}),
				}})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.CallTool(t.Context(), "login", login{User: "ada", Token: "my token"}); err != nil {
				t.Error(err)
			}
			if _, err := c.CallTool(t.Context(), "refuse", login{}); err == nil {
				t.Error("refuse: got no error")
			}
			ctx, cancel := context.WithCancelCause(t.Context())
			go func() {
				synctest.Wait()
				cancel(errors.New("enough"))
			}()
			if _, err := c.CallTool(ctx, "hang", login{}); err == nil {
				t.Error("hang: got no error")
			}
			if err := errors.Join(c.Close(), r.Close()); err != nil {
				t.Error(err)
			}
			f, err := recording.Parse(file.Bytes())
			if err != nil || f.Cut || !f.Content {
				t.Fatalf("%s: got %+v, %v", v, f, err)
			}
			var got []string
			for _, e := range f.Entries {
				got = append(got, fmt.Sprintf("%s %s %s %d", e.Kind, e.Method, e.Name, e.Code))
			}
			for _, want := range []string{"result tools/call login 0", "error tools/call refuse 7", "cancelled tools/call hang 0"} {
				if !slices.Contains(got, want) {
					t.Errorf("%s: want %q, got %q", v, want, got)
				}
			}
			for _, secret := range []string{"the token", "my token", "the password"} {
				if strings.Contains(file.String(), secret) {
					t.Errorf("%s: %q is in\n%s", v, secret, file.String())
				}
			}
			for _, span := range rec.Spans() {
				if span.Name() == "tools/call refuse" && !slices.ContainsFunc(f.Entries, func(e *recording.Entry) bool {
					return e.Kind == recording.Error && e.TraceID == span.SpanContext().TraceID().String()
				}) {
					t.Errorf("%s: no entry has the trace %s of refuse", v, span.SpanContext().TraceID())
				}
			}
		})
	}
}

func TestRequestsThatWereNotSentAreRecordedAsCancelled(t *testing.T) {
	var file bytes.Buffer
	r := NewRecorder(&file, nil)
	recorded, err := r.Transport(closedTransport{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := recorded.Dial(t.Context(), transport.Config{})
	if err != nil {
		t.Fatal(err)
	}
	err = c.Send(t.Context(), transport.Message{Data: []byte(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)})
	if !errors.Is(err, transport.ErrClosed) {
		t.Errorf("want the error of the connection, got %v", err)
	}
	_ = c.Send(t.Context(), transport.Message{Data: []byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)})
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	f, err := recording.Parse(file.Bytes())
	if err != nil || len(f.Entries) != 2 || f.Entries[1].Kind != recording.Cancelled {
		t.Errorf("want a request and its cancellation, got %v:\n%s", err, file.String())
	}
}

// TestRecordedRequestsAreBounded gets requests of a server that the client never answers.
func TestRecordedRequestsAreBounded(t *testing.T) {
	r := NewRecorder(io.Discard, nil)
	if err := r.begin("s", nil); err != nil {
		t.Fatal(err)
	}
	c := &recordedConn{tape: r.tape(), open: map[openRequest]outcome{}}
	for i := range maxOpen + 10 {
		m := jsonrpc.Message{Kind: jsonrpc.Request, ID: jsonrpc.IntID(int64(i)), Method: "roots/list"}
		if i%2 == 0 {
			m.ID = jsonrpc.StringID(strings.Repeat("x", maxOpenID+1) + strconv.Itoa(i))
		}
		c.record(recording.ServerSide, &m)
	}
	if got := len(c.open); got > maxOpen/2+5 {
		t.Errorf("want no request with a long id, got %d", got)
	}
	for i := range maxOpen + 10 {
		c.record(recording.ServerSide, &jsonrpc.Message{Kind: jsonrpc.Request, ID: jsonrpc.IntID(int64(-i)), Method: "ping"})
	}
	if got := len(c.open); got != maxOpen {
		t.Errorf("want %d requests, got %d", maxOpen, got)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

// closedTransport is a transport whose connections send nothing.
type closedTransport struct{ transport.Transport }

func (closedTransport) Name() string { return "closed" }
func (closedTransport) Dial(context.Context, transport.Config) (transport.Conn, error) {
	return closedConn{}, nil
}

type closedConn struct{ transport.Conn }

func (closedConn) Send(context.Context, transport.Message) error { return transport.ErrClosed }
