package examples

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
	"github.com/mcpotel/mcpotel/mcptest"
)

// The code in docs/guides/errors.md.

// docs:kinds

func report(err error) string {
	refused, isRefused := errors.AsType[*mcp.ToolError](err)
	answer, isAnswer := errors.AsType[*mcp.Error](err)
	switch {
	case err == nil:
		return "done"
	case isRefused:
		return "the tool failed: " + refused.Error() // for the model or the user; a repeated call gives the same error
	case isAnswer:
		return fmt.Sprintf("the server refuses the request, code %d", answer.Code) // a bug on one of the two sides
	case mcpclient.SafeToRetry(err):
		return "not done: the server cannot have acted"
	case errors.Is(err, mcpclient.ErrTimeout), errors.Is(err, mcpclient.ErrConnectionLost):
		return "unknown: the server may have acted"
	default:
		return "failed: " + err.Error()
	}
}

// docs:end

func patientCallOfTheGuide(ctx context.Context, client *mcpclient.Client) (*mcp.CallToolResult, error) {
	// docs:retry
	result, err := client.CallTool(ctx, "forecast", map[string]any{"city": "Oslo"},
		mcpclient.WithTimeout(20*time.Second), // for all attempts together
		mcpclient.WaitForReady(),              // wait for a reconnect, within that time
		mcpclient.Retry(3),                    // only if the server cannot act twice
	)
	// docs:end
	return result, err
}

func watchedClientOfTheGuide(server transport.Transport, tell func(string)) (*mcpclient.Client, error) {
	// docs:states
	client, err := mcpclient.New(server, &mcpclient.Options{
		Name:      "weather",
		KeepAlive: 30 * time.Second, // detects a server that hangs, even without a call
		OnTransition: func(t connstate.Transition) {
			if t.To == connstate.Ready || t.From == connstate.Ready {
				tell(fmt.Sprintf("weather: %v, because of %v", t.To, t.Reason))
			}
		},
	})
	// docs:end
	return client, err
}

// failing returns a server with the tool "book", which counts the bookings. The server dies after a booking of seat 13.
func failing(t *testing.T) (server *mcptest.Server, booked *int) {
	server = mcptest.NewServer(t, &mcpserver.Options{Telemetry: telemetry.Off()})
	booked = new(int)
	err := mcpserver.AddTool(server.Server, &mcp.Tool{Name: "book"}, func(_ context.Context, in struct {
		Seat int `json:"seat"`
	}) (string, error) {
		*booked++
		switch in.Seat {
		case 0:
			return "", errors.New("seat not found")
		case 13:
			server.Kill()
		}
		return "booked", nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return server, booked
}

func TestGuideReportDescribesTheOutcomeOfACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, booked := failing(t)
		client, err := mcpclient.Connect(t.Context(), server, &mcpclient.Options{Telemetry: telemetry.Off()})
		if err != nil {
			t.Fatal(err)
		}
		call := func(name string, seat int) error {
			result, err := client.CallTool(t.Context(), name, map[string]int{"seat": seat})
			if err == nil {
				err = result.Err()
			}
			return err
		}
		lost := call("book", 13)
		unsent := call("book", 1) // the client is not ready yet
		if err := client.WaitForReady(t.Context()); err != nil {
			t.Fatal(err)
		}
		server.Delay(time.Minute, mcp.MethodCallTool)
		late := call("book", 1)
		server.Delay(0)
		for want, err := range map[string]error{
			"done":                                   call("book", 1),
			"the tool failed: ":                      call("book", 0),
			"the server refuses the request":         call("look", 1),
			"not done: the server cannot have acted": unsent,
			"unknown: the server may have acted":     errors.Join(lost, late),
		} {
			if got := report(err); !strings.HasPrefix(got, want) {
				t.Errorf("%v: got %q, want %q", err, got, want)
			}
		}
		if *booked != 3 {
			t.Errorf("%d calls of the tool, want 3: one that is done, one that is refused, one lost", *booked)
		}
		_ = client.Close()
		if got := report(call("book", 1)); got != "not done: the server cannot have acted" {
			t.Errorf("of a client that is stopped: got %q", got)
		}
	})
}

func TestGuideCallSurvivesAReconnect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := mcptest.NewServer(t, &mcpserver.Options{Telemetry: telemetry.Off()})
		forecast := &mcp.Tool{Name: "forecast", Annotations: &mcp.ToolAnnotations{ReadOnlyHint: new(true)}}
		sunny := func(context.Context, Query) (string, error) { return "sunny", nil }
		err := mcpserver.AddTool(server.Server, forecast, sunny)
		if err != nil {
			t.Fatal(err)
		}
		var told []string
		client, err := watchedClientOfTheGuide(server, func(what string) { told = append(told, what) })
		if err != nil {
			t.Fatal(err)
		}
		if err := client.WaitForReady(t.Context()); err != nil {
			t.Fatal(err)
		}
		server.Kill()
		synctest.Wait()
		result, err := patientCallOfTheGuide(t.Context(), client)
		if err != nil || result.Text() != "sunny" {
			t.Errorf("got %v and %v, want an answer", result, err)
		}
		if err := client.Close(); err != nil {
			t.Error(err)
		}
		got := strings.Join(told, "; ")
		want := "weather: ready, because of negotiated; weather: backoff, because of transport_down; " +
			"weather: ready, because of negotiated; weather: closing, because of stop_requested"
		if got != want {
			t.Errorf("heard %q, want %q", got, want)
		}
	})
}
