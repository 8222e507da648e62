package mcpclient_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// The tests of this file cover rows of the telemetry schema that no other test of the client covers. The Recording
// checks the rows themselves.

func TestReopenedSubscriptionLinksToTheLostOne(t *testing.T) {
	features := []mcpclient.Feature{mcpclient.HandleToolListChanged(func(context.Context) {})}
	observed(t, mcpclient.Options{Features: features}, nil, func(t *testing.T, s *script, c *mcpclient.Client,
		rec *telemetrytest.Recording) {
		r := &revision{v: mcp.Version20260728, s: s, c: c, conversation: s.next(t).greet(mcp.Version20260728, all)}
		await(t, c)
		r.listened(`{"toolsListChanged":true}`)
		synctest.Wait()
		if n := len(rec.Logs("mcp_client.request.reissued")); n != 0 {
			t.Errorf("got %d records of a repeated subscription, want none for the first one", n)
		}
		r.reconnect(all)
		r.listened(`{"toolsListChanged":true}`)
		synctest.Wait()
		var spans []trace.SpanContext
		for _, span := range rec.SpansNamed(mcp.MethodSubscriptionsListen, trace.SpanKindClient) {
			if links := span.Links(); len(spans) == 1 &&
				(len(links) != 1 || links[0].SpanContext.SpanID() != spans[0].SpanID()) {
				t.Errorf("want a link to the first subscription %v, got %v", spans[0].SpanID(), links)
			}
			spans = append(spans, span.SpanContext())
		}
		record := rec.Log("mcp_client.request.reissued")
		if len(spans) != 2 || record.Span.SpanID() != spans[1].SpanID() {
			t.Errorf("want two subscriptions and a record of the second, got %v and a record of %v", spans, record.Span)
		}
	})
}

func TestResourceUpdateSpanHasURI(t *testing.T) {
	features := []mcpclient.Feature{mcpclient.HandleNotification(mcp.NotificationResourceUpdated,
		func(context.Context, *mcpclient.Notification) {})}
	observed(t, mcpclient.Options{Features: features}, nil, func(t *testing.T, s *script, c *mcpclient.Client,
		rec *telemetrytest.Recording) {
		v := s.next(t).modern()
		await(t, c)
		v.Send(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"file:///a",` + opened(c) + `}}`)
		synctest.Wait()
		for _, a := range rec.Span(mcp.NotificationResourceUpdated).Attributes() {
			if a.Key == "mcp.resource.uri" && a.Value.String() == "file:///a" {
				return
			}
		}
		t.Error("the span of the notification has no URI of the resource")
	})
}

func TestPromptNameIsInRetryAndInputRecords(t *testing.T) {
	var busy atomic.Bool
	rig := &rigged{send: func(m transport.Message) (error, bool) {
		return transport.ErrBusy, m.Method == mcp.MethodGetPrompt && busy.CompareAndSwap(true, false)
	}}
	observed(t, *confirming(), rig, func(t *testing.T, s *script, c *mcpclient.Client, rec *telemetrytest.Recording) {
		v := s.next(t).greet(mcp.Version20260728, all)
		await(t, c)
		busy.Store(true)
		done := background(func() error {
			_, err := c.GetPrompt(t.Context(), "greet", nil)
			return err
		})
		v.Answer(v.Expect(mcp.MethodGetPrompt), inputRequired(`{"confirm":`+formRequest+`}`, ""))
		v.Answer(v.Expect(mcp.MethodGetPrompt), `{"messages":[]}`)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		for _, event := range []string{"mcp_client.send.retry", "mcp_client.request.input_required"} {
			if got := rec.Log(event).Text("gen_ai.prompt.name"); got != "greet" {
				t.Errorf("%s: want the prompt greet, got %q", event, got)
			}
		}
	})
}

func TestInvalidFramesAreCountedByRule(t *testing.T) {
	deep := `{"jsonrpc":"2.0","method":"a","params":{"x":` + strings.Repeat("[", 1100) + strings.Repeat("]", 1100) + `}}`
	observed(t, mcpclient.Options{}, nil, func(t *testing.T, s *script, c *mcpclient.Client,
		rec *telemetrytest.Recording) {
		v := s.next(t).modern()
		await(t, c)
		v.Send(`{"jsonrpc":"2.0","method":7}`, `{"jsonrpc":"2.0","method":""}`, deep)
		synctest.Wait()
		for reason, want := range map[string]int64{"invalid_method": 2, "too_deep": 1} {
			if got := rec.Value("mcp_client.protocol.violations", "mcp_client.violation.reason", reason); got != want {
				t.Errorf("violations %s: got %d, want %d", reason, got, want)
			}
		}
	})
}

func TestDroppedNotificationLogsAreRateLimited(t *testing.T) {
	release := make(chan struct{})
	features := []mcpclient.Feature{mcpclient.HandleNotification("flood", func(ctx context.Context,
		_ *mcpclient.Notification) {
		select {
		case <-release:
		case <-ctx.Done():
		}
	})}
	observed(t, mcpclient.Options{Features: features, Limits: mcpclient.Limits{Notifications: 1}}, nil,
		func(t *testing.T, s *script, c *mcpclient.Client, rec *telemetrytest.Recording) {
			release = make(chan struct{})
			v := s.next(t).modern()
			await(t, c)
			const flood = 20
			v.Send(`{"jsonrpc":"2.0","method":"flood"}`)
			synctest.Wait() // the handler is running
			for range flood {
				v.Send(`{"jsonrpc":"2.0","method":"flood"}`)
			}
			synctest.Wait()
			if n := len(rec.Logs("mcp_client.notification.dropped")); n != 5 {
				t.Errorf("want five records at first, got %d", n)
			}
			time.Sleep(2 * time.Second)
			v.Send(`{"jsonrpc":"2.0","method":"flood"}`)
			synctest.Wait()
			records := rec.Logs("mcp_client.notification.dropped")
			if got, want := records[len(records)-1].Text("mcp_client.suppressed"), fmt.Sprint(flood-1-5); got != want {
				t.Errorf("suppressed records in the next one: got %s, want %s", got, want)
			}
			close(release)
		})
}

// A model may call tools that do not exist. Once the client knows the tools, metrics omit the names of other tools.
func TestUnlistedToolIsOmittedFromMetrics(t *testing.T) {
	observed(t, mcpclient.Options{}, nil, func(t *testing.T, s *script, c *mcpclient.Client,
		rec *telemetrytest.Recording) {
		v := s.next(t).modern()
		await(t, c)
		call := func(tool string) {
			done := background(func() error {
				_, err := c.CallTool(t.Context(), tool, nil)
				return err
			})
			v.Answer(v.Expect(mcp.MethodCallTool), fmt.Sprintf(textResult, "x"))
			if err := <-done; err != nil {
				t.Fatal(err)
			}
		}
		call("early")
		listed := background(func() error {
			_, err := c.ListTools(t.Context(), nil)
			return err
		})
		v.Answer(v.Expect(mcp.MethodListTools), `{"tools":[{"name":"real","inputSchema":{"type":"object"}}]}`)
		if err := <-listed; err != nil {
			t.Fatal(err)
		}
		call("real")
		call("invented")
		for tool, want := range map[string]uint64{"early": 1, "real": 1, "invented": 0, "_OTHER": 1} {
			if got := rec.Count("mcp.client.operation.duration", "gen_ai.tool.name", tool); got != want {
				t.Errorf("calls of %s on the metric: got %d, want %d", tool, got, want)
			}
		}
		if span := rec.Span("tools/call invented"); span.Attributes()[1].Value.String() != "invented" {
			t.Errorf("want the name in the span, got %v", span.Attributes())
		}
	})
}
