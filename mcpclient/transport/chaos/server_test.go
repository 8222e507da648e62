package chaos

import (
	"context"
	"errors"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// TestDeathFaultKillsTheProcess connects to an echo program. The second request kills the program.
func TestDeathFaultKillsTheProcess(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	w, err := Wrap(transport.Stdio{Command: self, Env: append(os.Environ(), echoVariable+"=1")},
		&Plan{Faults: []Fault{{Kind: Death, Skip: 1}}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	c, err := w.Dial(ctx, transport.Config{})
	if err != nil {
		t.Fatal(err)
	}
	request := func(id int64) error {
		return c.Send(ctx, transport.Message{
			Data: []byte(`{"jsonrpc":"2.0","id":1,"method":"ping"}`), Kind: transport.KindRequest, ID: id,
			Method: mcp.MethodPing,
		})
	}
	if err := request(1); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Receive(ctx); err != nil {
		t.Fatalf("the first echo: %v", err)
	}
	if err := request(2); err != nil {
		t.Fatal(err)
	}
	_, err = c.Receive(ctx)
	if exit, ok := errors.AsType[*transport.ExitError](err); !ok || exit.PID != c.Info().PID || exit.Code == 0 {
		t.Errorf("after the program's death: %v", err)
	}
	if err := c.Close(ctx); err != nil {
		t.Error(err)
	}
}

// overHTTP connects a client to a server over HTTP, with a plan of one fault.
func overHTTP(t *testing.T, v mcp.Version, f Fault) *mcpclient.Client {
	t.Helper()
	s := mcpserver.New(mcp.Implementation{Name: "far", Version: "1"}, &mcpserver.Options{Telemetry: telemetry.Off()})
	if err := mcpserver.AddTool(s, &mcp.Tool{Name: "echo"}, func(_ context.Context, in text) (text, error) {
		return in, nil
	}); err != nil {
		t.Fatal(err)
	}
	handler := s.HTTPHandler(nil)
	site := httptest.NewServer(handler)
	t.Cleanup(func() {
		_ = handler.Shutdown(context.Background())
		site.Close()
	})
	f.Limit, f.Tool = 1, "echo"
	w, err := Wrap(&transport.HTTP{URL: site.URL + "/mcp"}, &Plan{Faults: []Fault{f}})
	if err != nil {
		t.Fatal(err)
	}
	c, err := mcpclient.Connect(t.Context(), w, &mcpclient.Options{
		Versions: []mcp.Version{v}, Telemetry: telemetrytest.Recorder(t).Telemetry(),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestFaultOverHTTPHitsOneExchange(t *testing.T) {
	const modern, legacy = mcp.Version20260728, mcp.Version20251125
	for _, c := range []struct {
		version mcp.Version
		fault   Fault
		want    becomes // outcome of the first call
		session bool    // the client starts a new session
	}{
		{modern, Fault{Kind: Cut, On: OnAnswer}, lost, false},
		{legacy, Fault{Kind: Cut, On: OnAnswer}, lost, false},
		{modern, Fault{Kind: Death}, lost, false},
		{legacy, Fault{Kind: Busy, Code: 429}, answered, false},
		{modern, Fault{Kind: Busy, RetryAfter: time.Millisecond}, answered, false},
		{modern, Fault{Kind: Truncate}, malformed, false},
		{modern, Fault{Kind: Duplicate}, answered, false},
		{modern, Fault{Kind: Garbage}, answered, false},
		{modern, Fault{Kind: Latency, Delay: time.Millisecond, On: OnRequest}, answered, false},
		{modern, Fault{Kind: Expire}, "status 404", false},
		{legacy, Fault{Kind: Expire}, lost, true},
	} {
		t.Run(string(c.version)+" "+string(c.fault.Kind), func(t *testing.T) {
			client := overHTTP(t, c.version, c.fault)
			before := client.Status()
			_, err := client.CallTool(t.Context(), "echo", text{"first"})
			got := outcomeOf(err)
			if why, ok := errors.AsType[*transport.RequestError](err); ok && why.Reason == transport.ReasonStatus {
				got = "status 404"
			}
			if got != c.want {
				t.Errorf("%s, %v; want %s", got, err, c.want)
			}
			if err := client.WaitForReady(t.Context()); err != nil {
				t.Fatal(err)
			}
			result, err := client.CallTool(t.Context(), "echo", text{"second"})
			if err != nil {
				t.Fatalf("the next call: %v", err)
			}
			var out text
			if err := result.Decode(&out); err != nil || out.Text != "second" {
				t.Errorf("the next call: %q, %v", out.Text, err)
			}
			if renewed := client.Status().Epoch != before.Epoch; renewed != c.session {
				t.Errorf("new session: %v, want %v", renewed, c.session)
			}
		})
	}
}
