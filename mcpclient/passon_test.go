package mcpclient_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
)

// CallToolRaw returns the result as the server wrote it. ReturnInputRequired returns the server's request for input.
func TestCallToolRawPassesOnResultsAndInputRequests(t *testing.T) {
	const result = `{"content":[{"type":"text","text":"no","x":[1]}],"isError":true,"more":{"a":1}}`
	observed(t, *confirming(), nil, func(t *testing.T, s *script, c *mcpclient.Client, rec *telemetrytest.Recording) {
		v := s.next(t).modern()
		await(t, c)
		p := &mcp.CallToolParams{Name: "delete"}
		done := background(func() error {
			_, err := c.CallToolRaw(t.Context(), p,
				mcpclient.ReturnInputRequired())
			return err
		})
		v.Answer(v.Expect(mcp.MethodCallTool), inputRequired(`{"confirm":`+formRequest+`}`, `"s"`))
		needs, ok := errors.AsType[*mcpclient.InputRequiredError](<-done)
		if !ok || needs.Result.InputRequests["confirm"].Method != mcp.MethodElicit {
			t.Fatalf("the call returned %v, want the server's request for input", needs)
		}
		p.RequestState = needs.Result.RequestState
		p.InputResponses = mcp.InputResponses{"confirm": json.RawMessage(`{"action":"accept"}`)}
		var raw json.RawMessage
		done = background(func() (err error) {
			raw, err = c.CallToolRaw(t.Context(), p, mcpclient.ReturnInputRequired())
			return err
		})
		second := v.Expect(mcp.MethodCallTool)
		v.Answer(second, result)
		if err := <-done; err != nil || string(raw) != result {
			t.Errorf("the second call returned %s, %v, want %s", raw, err, result)
		}
		var sent inputParams
		if err := json.Unmarshal(second.Params, &sent); err != nil || string(sent.RequestState) != `"s"` ||
			len(sent.InputResponses) != 1 {
			t.Errorf("the server got %s, %v, want the input", second.Params, err)
		}
		if n := rec.Count("mcp.client.operation.duration", "mcp.method.name", mcp.MethodCallTool, "error.type",
			"tool_error"); n != 1 {
			t.Errorf("%d calls count as failures of the tool, want 1", n)
		}
		if p.Arguments != nil {
			t.Errorf("the caller's params were changed to %+v", p)
		}
	})
}

func TestCallReturnsAfterHandlingEarlierNotifications(t *testing.T) {
	heard := 0
	o := &mcpclient.Options{Features: []mcpclient.Feature{mcpclient.HandleLogMessage(func(context.Context,
		*mcp.LoggingMessageParams) {
		time.Sleep(time.Second)
		heard++
	})}}
	ready(t, o, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		for _, logged := range []int{0, 3} {
			heard = 0
			done := background(func() error { return c.Call(t.Context(), "x/y", nil, nil, mcpclient.AfterNotifications()) })
			f := v.Expect("x/y")
			for range logged {
				v.Send(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}`)
			}
			v.Answer(f, `{}`)
			if err := <-done; err != nil || heard != logged {
				t.Errorf("the call returned %v after the handler of %d of %d messages", err, heard, logged)
			}
		}
		v.Send(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}`)
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		begun := time.Now()
		if err := c.Call(ctx, "x/y", nil, nil, mcpclient.AfterNotifications()); err == nil ||
			time.Since(begun) > time.Millisecond {
			t.Errorf("the call returned %v after %v, want the end of its context", err, time.Since(begun))
		}
		time.Sleep(time.Minute) // wait until the handler has ended
	})
}
