package traffic

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/audit"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
	"github.com/mcpotel/mcpotel/testenv/stack/shop"
)

// legacy and modern restrict a client to one era.
var (
	legacy = []mcp.Version{mcp.Version20251125}
	modern = []mcp.Version{mcp.Version20260728}
)

// thoughtful returns a handler that fills in a form after a while, like a person, while the call waits.
func thoughtful(d time.Duration) mcpclient.ElicitationHandler {
	return func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
		<-time.After(d)
		return &mcp.ElicitResult{Action: mcp.ElicitAccept, Content: map[string]any{"name": "Ada"}}, nil
	}
}

func questions(ctx context.Context, f *Fleet) error {
	for _, one := range []struct {
		client   string
		versions []mcp.Version
		thought  time.Duration
	}{{"shop-asked", modern, 10 * time.Millisecond}, {"shop-legacy", legacy, linger}} {
		c, err := f.client(ctx, assistant, one.client, f.http("/mcp", transport.ModeAuto), mcpclient.Options{
			Versions: one.versions, Features: []mcpclient.Feature{mcpclient.HandleElicitation(thoughtful(one.thought))},
		})
		if err != nil {
			return err
		}
		if err := succeeds(c.CallTool(ctx, "order", args{"times": 2})); err != nil {
			return err
		}
	}
	return nil
}

func clientPanics(ctx context.Context, f *Fleet) error {
	c, err := f.client(ctx, assistant, "shop-clumsy", f.http("/mcp", transport.ModeAuto), mcpclient.Options{
		Versions: legacy, Features: []mcpclient.Feature{mcpclient.HandleElicitation(
			func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) { panic("dropped the pen") })},
	})
	if err != nil {
		return err
	}
	return reports(c.CallTool(ctx, "order", nil))
}

func notifications(ctx context.Context, f *Fleet) error {
	released, changed := make(chan struct{}), make(chan struct{}, 1)
	c, err := f.visitor(ctx, assistant, "shop-listener", f.http("/mcp", transport.ModeAuto), mcpclient.Options{
		Versions: legacy, Limits: mcpclient.Limits{Notifications: 4},
		Features: []mcpclient.Feature{
			mcpclient.UseRoots(&mcp.Root{URI: "file:///srv"}),
			mcpclient.HandleToolListChanged(func(context.Context) {
				select {
				case changed <- struct{}{}:
				default: // once is enough
				}
			}),
			mcpclient.HandleLogMessage(func(context.Context, *mcp.LoggingMessageParams) {}),
			mcpclient.HandleProgress(func(ctx context.Context, _ *mcp.ProgressParams) {
				select {
				case <-released:
				case <-ctx.Done():
				}
			}),
		},
	})
	if err != nil {
		return err
	}
	failed := []error{c.SetRoots(ctx, &mcp.Root{URI: "file:///srv/other"})}
	follow := mcpclient.WithProgress(func(*mcp.ProgressParams) {})
	for _, tool := range []string{"log", "change"} {
		failed = append(failed, succeeds(c.CallTool(ctx, tool, nil)))
	}
	select {
	case <-changed:
	case <-ctx.Done():
		return errors.Join(append(failed, context.Cause(ctx))...)
	}
	failed = append(failed, succeeds(c.CallTool(ctx, "progress", args{"times": 50}, follow))) // more than the queue holds
	close(released)
	failed = append(failed, succeeds(c.CallTool(ctx, "progress", args{"times": 2}, follow)))
	plain, err := f.client(ctx, assistant, "shop-plain", func() (transport.Transport, error) {
		return &transport.HTTP{URL: f.shopURL + "/mcp", Client: &http.Client{Transport: noStreams{}}}, nil
	}, mcpclient.Options{Versions: modern})
	if err == nil {
		err = succeeds(plain.CallTool(ctx, "progress", args{"times": 2}, follow))
	}
	return errors.Join(append(failed, err, c.Close())...)
}

// noStreams makes a client accept only JSON, so that nothing can precede the answer.
type noStreams struct{}

func (noStreams) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Accept", "application/json")
	return http.DefaultTransport.RoundTrip(r)
}

func streams(ctx context.Context, f *Fleet) error {
	var failed []error
	for _, one := range []struct {
		client   string
		mode     transport.HTTPMode
		versions []mcp.Version
		stays    time.Duration
	}{
		{"shop-session", transport.ModeStreamable, legacy, 0},
		{"shop-sse", transport.ModeSSE, legacy, 0},
		{"shop-subscribed", transport.ModeStreamable, modern, linger},
	} {
		updates := make(chan string, 1)
		c, err := f.visitor(ctx, assistant, one.client, f.http("/mcp", one.mode), mcpclient.Options{
			Versions: one.versions, Features: []mcpclient.Feature{mcpclient.HandleResourceUpdated(
				func(_ context.Context, uri string) {
					select {
					case updates <- uri:
					default: // one is enough
					}
				})},
		})
		if err != nil {
			return err
		}
		failed = append(failed, c.SubscribeResource(ctx, shop.PriceURI), succeeds(c.CallTool(ctx, "touch", nil)))
		select {
		case <-updates: // the stream is open now
			if one.stays > 0 {
				<-time.After(one.stays)
			}
		case <-ctx.Done():
			failed = append(failed, context.Cause(ctx))
		}
		failed = append(failed, c.Close())
	}
	return errors.Join(failed...)
}

func cached(ctx context.Context, f *Fleet) error {
	c, err := f.shopper(ctx)
	if err != nil {
		return err
	}
	_, first := c.ListTools(ctx, nil, mcpclient.WithoutCache())
	_, second := c.ListTools(ctx, nil)
	_, third := c.ReadResource(ctx, shop.PriceURI)
	return errors.Join(first, second, third)
}

func tasks(ctx context.Context, f *Fleet) error {
	c, err := f.client(ctx, assistant, "shop-tasks", f.http("/mcp", transport.ModeAuto), mcpclient.Options{
		Versions: modern, Features: []mcpclient.Feature{
			mcpclient.UseTasks(&mcpclient.TaskOptions{PollMin: 500 * time.Millisecond})},
	})
	if err != nil {
		return err
	}
	spilt, err := c.StartTool(ctx, "spill", args{"seconds": 0.5})
	if err != nil {
		return err
	}
	unwanted, err := c.StartTool(ctx, "brew", args{"seconds": 60})
	if err != nil {
		return err
	}
	failed := []error{unwanted.Cancel(ctx)}
	_, err = unwanted.Wait(ctx)
	failed = append(failed, fails("a cancelled task", err, is(mcpclient.ErrTaskCancelled)))
	_, err = spilt.Wait(ctx)
	failed = append(failed, fails("a failed task", err, is(mcpclient.ErrTaskFailed)))
	return errors.Join(append(failed, succeeds(c.CallTool(ctx, "brew", args{"seconds": linger.Seconds()})))...)
}

func nodeServer(ctx context.Context, f *Fleet) error {
	c, err := f.client(ctx, assistant, "calculator", f.node, mcpclient.Options{})
	if err != nil {
		return err
	}
	_, late := c.CallTool(ctx, "wait", args{"seconds": 30}, mcpclient.WithTimeout(100*time.Millisecond))
	return errors.Join(
		succeeds(c.CallTool(ctx, "add", args{"a": 1, "b": 2})), reports(c.CallTool(ctx, "fail", nil)),
		fails("a timeout", late, is(mcpclient.ErrTimeout)),
	)
}

func grafanaServer(ctx context.Context, f *Fleet) error {
	c, err := f.client(ctx, assistant, "grafana", f.grafana, mcpclient.Options{})
	if err != nil {
		return err
	}
	return errors.Join(
		succeeds(c.CallTool(ctx, "generate_deeplink", args{"resourceType": "dashboard", "dashboardUid": "abc"})),
		reports(c.CallTool(ctx, "list_datasources", nil)),
	)
}

func everythingServer(ctx context.Context, f *Fleet) error {
	c, err := f.client(ctx, assistant, "everything", f.everything, mcpclient.Options{})
	if err != nil {
		return err
	}
	return errors.Join(
		succeeds(c.CallTool(ctx, "echo", args{"message": "hi"})),
		succeeds(c.CallTool(ctx, "trigger-long-running-operation", args{"duration": 0.3, "steps": 3},
			mcpclient.WithProgress(func(*mcp.ProgressParams) {}))),
	)
}

// policed calls a tool that the policy denies, a tool that takes too long, and a tool more often than the policy
// allows.
func policed(ctx context.Context, f *Fleet) error {
	c, err := f.client(ctx, assistant, "guarded", f.guarded, mcpclient.Options{})
	if err != nil {
		return err
	}
	for _, err := range c.Tools(ctx) {
		if err != nil {
			return err
		}
	}
	_, denied := c.CallTool(ctx, "divide", args{"a": 6, "b": 3})
	_, late := c.CallTool(ctx, "wait", args{"seconds": 30})
	failed := []error{fails("a denial", denied, kind(mcpclient.KindJSONRPC)),
		fails("a timeout of the proxy", late, kind(mcpclient.KindJSONRPC)),
		succeeds(c.CallTool(ctx, "forecast", args{"city": "Narvik"}))}
	var limited error
	for limited == nil && ctx.Err() == nil {
		_, limited = c.CallTool(ctx, "forecast", args{"city": "Narvik"})
	}
	return errors.Join(append(failed, fails("too many calls", limited, kind(mcpclient.KindJSONRPC)))...)
}

// unaudited calls a tool while the audit log is closed.
func unaudited(ctx context.Context, f *Fleet) error {
	p, err := f.service(ctx, assistant)
	if err != nil {
		return err
	}
	log, err := audit.Open("", []byte("the key of a log without records"))
	if err != nil {
		return err
	}
	if err := log.Close(); err != nil {
		return err
	}
	tel := p.Telemetry(telemetry.WithAudit(log))
	s := mcpserver.New(mcp.Implementation{Name: "unaudited", Version: "1"}, &mcpserver.Options{Telemetry: tel})
	if err := mcpserver.AddTool(s, &mcp.Tool{Name: "nod"},
		func(context.Context, struct{}) (string, error) { return "yes", nil }); err != nil {
		return err
	}
	c, err := mcpclient.Connect(ctx, transport.InMemory(func(ctx context.Context, peer *transport.Peer) {
		_ = s.Serve(ctx, peer) // the client's Close ends it
	}), &mcpclient.Options{Name: "unaudited", Telemetry: tel})
	if err != nil {
		return err
	}
	return errors.Join(succeeds(c.CallTool(ctx, "nod", nil)), c.Close())
}
