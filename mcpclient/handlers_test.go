package mcpclient_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
)

// journal records the calls of handlers. Handlers run one at a time, and a test reads the journal while no handler
// runs.
type journal struct{ lines []string }

func (j *journal) changed(what string) func(context.Context) {
	return func(context.Context) { j.lines = append(j.lines, what) }
}

func (j *journal) updated(_ context.Context, uri string) { j.lines = append(j.lines, "updated "+uri) }

func (j *journal) raw(_ context.Context, n *mcpclient.Notification) {
	j.lines = append(j.lines, fmt.Sprintf("raw %s %s", n.Method, n.Params))
}

// wants fails the test unless exactly these lines, in any order, were recorded since the last call of wants.
func (j *journal) wants(t *testing.T, lines ...string) {
	t.Helper()
	synctest.Wait()
	got := slices.Sorted(slices.Values(j.lines))
	slices.Sort(lines)
	if !slices.Equal(got, lines) {
		t.Errorf("want the calls %q, got %q", lines, got)
	}
	j.lines = nil
}

// ofSubscriptions are the notifications that a modern server sends to subscribers only.
var ofSubscriptions = []string{mcp.NotificationToolListChanged, mcp.NotificationPromptListChanged,
	mcp.NotificationResourceListChanged, mcp.NotificationResourceUpdated}

// tell sends a notification of the server. If the method needs a subscription, the notification belongs to the latest
// one.
func (r *revision) tell(method, params string) {
	r.t.Helper()
	if r.modern() && slices.Contains(ofSubscriptions, method) && r.subscription != "" {
		params = strings.Replace("{"+ofSubscription(r.subscription)+","+params[1:], ",}", "}", 1)
	}
	r.Send(fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":%s}`, method, params))
}

// agree acknowledges a subscription, with the filter honoured or, if that is empty, with the requested filter.
func (r *revision) agree(f frame, honoured string) {
	r.t.Helper()
	if honoured == "" {
		_, honoured, _ = strings.Cut(paramsOf(r.t, f), `{"notifications":`)
		honoured = strings.TrimSuffix(honoured, "}")
	}
	r.subscription = string(f.ID)
	r.tell(mcp.NotificationSubscriptionsAcknowledged,
		fmt.Sprintf(`{%s,"notifications":%s}`, ofSubscription(r.subscription), honoured))
}

// listened receives the client's next subscription, which must have this filter, and acknowledges it.
func (r *revision) listened(filter string) frame {
	r.t.Helper()
	f := r.Expect(mcp.MethodSubscriptionsListen)
	if got, want := paramsOf(r.t, f), `{"notifications":`+filter+`}`; got != want {
		r.t.Errorf("want the filter %s, got %s", want, got)
	}
	r.agree(f, "")
	return f
}

func TestListChangesReachTheHandlers(t *testing.T) {
	j := &journal{}
	o := mcpclient.Options{Features: []mcpclient.Feature{
		mcpclient.HandleToolListChanged(j.changed("tools")), mcpclient.HandleResourceListChanged(j.changed("resources")),
		mcpclient.HandlePromptListChanged(j.changed("prompts")),
	}}
	inEach(t, o, func(t *testing.T, r *revision) {
		const everything = `{"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true}`
		if r.modern() {
			r.listened(everything)
		}
		j.wants(t)
		r.tell(mcp.NotificationToolListChanged, `{}`)
		j.wants(t, "tools")
		r.tell(mcp.NotificationResourceListChanged, `{}`)
		j.wants(t, "resources")
		removes := []func(){
			r.c.Handle(mcpclient.HandleToolListChanged(j.changed("tools later"))),
			r.c.Handle(mcpclient.HandleResourceListChanged(j.changed("resources later"))),
			r.c.Handle(mcpclient.HandlePromptListChanged(j.changed("prompts later"))),
		}
		r.tell(mcp.NotificationToolListChanged, `{}`)
		r.tell(mcp.NotificationResourceListChanged, `{}`)
		r.tell(mcp.NotificationPromptListChanged, `{}`)
		j.wants(t, "tools", "tools later", "resources", "resources later", "prompts", "prompts later")
		for _, remove := range removes {
			remove()
		}
		r.tell(mcp.NotificationPromptListChanged, `{}`)
		j.wants(t, "prompts")
		r.silent()
	})
}

func TestMissedChangesReachTheHandlersAfterAReconnect(t *testing.T) {
	j := &journal{}
	o := mcpclient.Options{Features: []mcpclient.Feature{
		mcpclient.HandleNotification("",
			j.raw), mcpclient.HandleToolListChanged(j.changed("tools")), mcpclient.HandlePromptListChanged(j.changed("prompts")),
	}}
	inEach(t, o, func(t *testing.T, r *revision) {
		const everything = `{"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true}`
		if r.modern() {
			r.listened(everything)
			j.wants(t, "raw notifications/subscriptions/acknowledged "+j.last(t))
		}
		j.wants(t)
		r.reconnect(strings.Replace(all, `"prompts":{"listChanged":true}`, `"prompts":{}`, 1))
		if r.modern() {
			f := r.Expect(mcp.MethodSubscriptionsListen)
			j.wants(t) // no call yet: the client would not notice a change between the call and the acknowledgement
			r.agree(f, `{"toolsListChanged":true}`)
			j.wants(t, "tools", "raw notifications/subscriptions/acknowledged "+j.last(t))
		}
		if !r.modern() {
			j.wants(t, "tools") // nothing for prompts, because this server does not report their changes
		}
		r.silent()
	})
}

// last returns the params of the last notification that a raw handler got.
func (j *journal) last(t *testing.T) string {
	t.Helper()
	synctest.Wait()
	for _, line := range slices.Backward(j.lines) {
		if f := strings.SplitN(line, " ", 3); len(f) == 3 && f[0] == "raw" {
			return f[2]
		}
	}
	t.Fatal("no raw handler was called")
	return ""
}

func TestMissedNotificationsAreNotCountedAsReceived(t *testing.T) {
	j := &journal{}
	o := mcpclient.Options{Versions: legacyOnly,
		Features: []mcpclient.Feature{mcpclient.HandleToolListChanged(func(context.Context) {
			j.lines = append(j.lines, "tools")
			panic("while the tools are listed")
		})}}
	observed(t, o, nil, func(t *testing.T, s *script, c *mcpclient.Client, rec *telemetrytest.Recording) {
		j.lines = nil
		r := &revision{v: mcp.Version20251125, s: s, c: c, conversation: s.next(t).greet(mcp.Version20251125, all)}
		await(t, c)
		r.reconnect(all)
		j.wants(t, "tools")
		if n := rec.Value("mcp_client.notification.messages", "mcp_client.direction", "received"); n != 0 {
			t.Errorf("want no notification counted, got %d", n)
		}
		rec.Log("mcp_client.handler.panic")
	})
}

func TestProgressHandlersGetProgressOfAllRequests(t *testing.T) {
	var said []string
	hear := func(by string) func(context.Context, *mcp.ProgressParams) {
		return func(_ context.Context, p *mcp.ProgressParams) {
			said = append(said, fmt.Sprintf("%s: %s %v %s", by, p.ProgressToken, p.Progress, p.Message))
		}
	}
	inEach(t, mcpclient.Options{Features: []mcpclient.Feature{mcpclient.HandleProgress(hear("feature"))}},
		func(t *testing.T, r *revision) {
			said = nil
			r.tell(mcp.NotificationProgress, `{"progressToken":"mine","progress":1,"message":"one"}`)
			synctest.Wait()
			remove := r.c.Handle(mcpclient.HandleProgress(hear("later")))
			r.tell(mcp.NotificationProgress, `{"progressToken":7,"progress":0.5}`)
			synctest.Wait()
			remove()
			r.tell(mcp.NotificationProgress, `{"progressToken":"mine","progress":2}`)
			synctest.Wait()
			want := "feature: mine 1 one|feature: 7 0.5 |later: 7 0.5 |feature: mine 2 "
			if got := strings.Join(said, "|"); got != want {
				t.Errorf("want %s, got %s", want, got)
			}
		})
}

func TestUndecodableNotificationIsAViolation(t *testing.T) {
	var heard int
	o := mcpclient.Options{Features: []mcpclient.Feature{
		mcpclient.HandleResourceUpdated(func(context.Context, string) { heard++ }),
		mcpclient.HandleLogMessage(func(context.Context, *mcp.LoggingMessageParams) { heard++ }),
		mcpclient.HandleProgress(func(context.Context, *mcp.ProgressParams) { heard++ }),
	}}
	observed(t, o, nil, func(t *testing.T, s *script, c *mcpclient.Client, rec *telemetrytest.Recording) {
		heard = 0
		r := &revision{v: mcp.Version20260728, s: s, c: c, conversation: s.next(t).greet(mcp.Version20260728, all)}
		await(t, c)
		for method, params := range map[string]string{
			mcp.NotificationResourceUpdated: `{` + opened(c) + `}`,
			mcp.NotificationMessage:         `{"level":7,"data":1}`,
			mcp.NotificationProgress:        `{"progress":1}`,
		} {
			r.tell(method, params)
			r.Send(fmt.Sprintf(`{"jsonrpc":"2.0","method":%q}`, method))
		}
		synctest.Wait()
		if heard != 0 {
			t.Errorf("want no handler called, got %d calls", heard)
		}
		// 5 of the 6 notifications: an update without params belongs to no subscription and is dropped
		if n := rec.Value("mcp_client.protocol.violations", "mcp_client.violation.reason", "invalid_params"); n != 5 {
			t.Errorf("want 5 violations, got %d", n)
		}
	})
}
