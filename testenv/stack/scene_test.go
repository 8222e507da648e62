package stack_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/internal/command/prom"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/otlp"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpclient/transport/chaos"
	"github.com/mcpotel/mcpotel/mcpserver"
	"github.com/mcpotel/mcpotel/testenv/stack"
)

// The troubles of a scene.
const (
	lag             = 300 * time.Millisecond // delay of the server slow, and of the network to the server far
	lost            = 3                      // number of lost calls of the client ledger
	conversationHit = "thread-17"            // conversation of these calls
	conversationOK  = "thread-18"
	callsOfChatty   = 40 // number of calls in a round
)

// A scene is a set of services that call each other. Each service has a certain trouble or is healthy.
type scene struct {
	t       *testing.T
	stack   *stack.Stack
	serving *otlp.Providers // telemetry of the servers that are not separate services
	callers []caller
	changes []func(ctx context.Context) error // run in each round
}

// A caller makes calls in each round.
type caller struct {
	client *mcpclient.Client
	ctx    context.Context
	tool   string
	broken bool // makes the server fail
	times  int
	want   string // error.type of the calls, empty if they succeed
}

// input has the arguments of every tool.
type input struct {
	Broken bool   `json:"broken,omitzero"`
	Pad    string `json:"pad,omitzero"`
}

// work is a tool that behaves as its arguments require.
func work(_ context.Context, in input) (string, error) {
	if in.Broken {
		return "", &mcp.Error{Code: mcp.CodeInternalError, Message: "out of order"}
	}
	return "done", nil
}

// newScene starts all services.
func newScene(t *testing.T, ctx context.Context, s *stack.Stack) *scene {
	t.Helper()
	c := &scene{t: t, stack: s}
	c.serving = c.service("servers", "1", "servers-1")
	c.readers(ctx)
	c.clerks(ctx)
	c.versions(ctx)
	c.bookings(ctx)
	c.limits(ctx)
	c.processes(ctx)
	return c
}

// service returns the telemetry of a program with a version.
func (c *scene) service(name, version, instance string) *otlp.Providers {
	c.t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "service.instance.id="+instance)
	return service(c.t, c.stack, name, otlp.WithServiceVersion(version), otlp.WithExportInterval(500*time.Millisecond),
		otlp.WithBaggageAttributes(telemetry.ConversationKeys()...))
}

// server returns a transport to a server with one tool.
func (c *scene) server(p *otlp.Providers, name, version, tool string,
	handle func(context.Context, input) (string, error), o mcpserver.Options) (*mcpserver.Server, transport.Transport) {
	c.t.Helper()
	o.Telemetry = p.Telemetry()
	s := mcpserver.New(mcp.Implementation{Name: name, Version: version}, &o)
	c.must(mcpserver.AddTool(s, &mcp.Tool{Name: tool}, handle))
	return s, transport.InMemory(func(ctx context.Context, peer *transport.Peer) { _ = s.Serve(ctx, peer) })
}

// plain returns a transport to a healthy server.
func (c *scene) plain(name, version, tool string) transport.Transport {
	_, tr := c.server(c.serving, name, version, tool, work, mcpserver.Options{})
	return tr
}

// connect connects a client under a name.
func (c *scene) connect(ctx context.Context, p *otlp.Providers, name string, tr transport.Transport,
	features ...mcpclient.Feature) *mcpclient.Client {
	c.t.Helper()
	client, err := mcpclient.Connect(ctx, tr, c.options(p, name, features))
	c.must(err)
	c.t.Cleanup(func() { client.Close() })
	return client
}

func (c *scene) options(p *otlp.Providers, name string, features []mcpclient.Feature) *mcpclient.Options {
	return &mcpclient.Options{Name: name, ClientInfo: mcp.Implementation{Name: name, Version: "1"},
		Telemetry: p.Telemetry(), Features: features, Backoff: mcpclient.Backoff{Min: 10 * time.Millisecond}}
}

func (c *scene) must(err error) {
	c.t.Helper()
	if err != nil {
		c.t.Fatal(err)
	}
}

// calls makes a client call a tool in each round.
func (c *scene) calls(ctx context.Context, client *mcpclient.Client, tool string, times int) {
	c.callers = append(c.callers, caller{client: client, ctx: ctx, tool: tool, times: times})
}

// fails is like the method calls, for calls that fail at the server.
func (c *scene) fails(ctx context.Context, client *mcpclient.Client, tool string) {
	c.callers = append(c.callers, caller{client: client, ctx: ctx, tool: tool, broken: true, times: 1, want: "-32603"})
}

// readers creates clients of a slow server, of a distant server and of a near server. Other clients read a list of
// tools that changes, and two clients call one server, the first of them often.
func (c *scene) readers(ctx context.Context) {
	p := c.service("reader", "1", "reader-1")
	_, slow := c.server(c.serving, "slow", "1", "work", func(ctx context.Context, in input) (string, error) {
		select {
		case <-time.After(lag):
			return work(ctx, in)
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}, mcpserver.Options{})
	far, err := chaos.Wrap(c.plain("far", "1", "work"), &chaos.Plan{Faults: []chaos.Fault{{Kind: chaos.Latency,
		Tool: "work", Delay: lag}}})
	c.must(err)
	near := c.connect(ctx, p, "near", c.plain("near", "1", "work"), mcpclient.UseDriftDetection(nil))
	c.calls(ctx, near, "work", 1)
	c.calls(ctx, c.connect(ctx, p, "slow", slow), "work", 1)
	c.calls(ctx, c.connect(ctx, p, "far", far), "work", 1)

	server, menu := c.server(c.serving, "menu", "1", "work", work, mcpserver.Options{})
	changing := c.connect(ctx, p, "menu", menu, mcpclient.UseDriftDetection(nil))
	changed := 0
	c.changes = append(c.changes, func(ctx context.Context) error {
		changed++
		server.RemoveTools("work")
		err := mcpserver.AddTool(server, &mcp.Tool{Name: "work", Description: fmt.Sprintf("of day %d", changed)}, work)
		return errors.Join(err, list(ctx, changing), list(ctx, near))
	})

	popular := c.plain("popular", "1", "work")
	c.calls(ctx, c.connect(ctx, p, "chatty", popular), "work", callsOfChatty)
	c.calls(ctx, c.connect(ctx, p, "quiet", popular), "work", 1)
}

// list lists all tools.
func list(ctx context.Context, client *mcpclient.Client) error {
	for _, err := range client.Tools(ctx) {
		if err != nil {
			return err
		}
	}
	return nil
}

// clerks creates clients that lose calls in one conversation, fail in another, and cannot reach a server.
func (c *scene) clerks(ctx context.Context) {
	p := c.service("clerk", "1", "clerk-1")
	cut, err := chaos.Wrap(c.plain("ledger", "1", "post"), &chaos.Plan{Faults: []chaos.Fault{{Kind: chaos.Cut,
		On: chaos.OnAnswer, Tool: "post"}}})
	c.must(err)
	hit, err := telemetry.ContextWithConversation(ctx, telemetry.Conversation{ID: conversationHit})
	c.must(err)
	ledger := c.connect(ctx, p, "ledger", cut)
	for range lost {
		_, err := ledger.CallTool(hit, "post", input{}, mcpclient.WaitForReady())
		c.is(err, "connection_lost")
	}
	fine, err := telemetry.ContextWithConversation(ctx, telemetry.Conversation{ID: conversationOK})
	c.must(err)
	journal := c.connect(ctx, p, "journal", c.plain("journal", "1", "post"))
	c.calls(fine, journal, "post", 1)
	c.fails(fine, journal, "post")

	gone, err := mcpclient.New(&transport.HTTP{URL: "http://127.0.0.1:1/mcp"}, c.options(p, "gone", nil))
	c.must(err)
	c.t.Cleanup(func() { gone.Close() })
	c.callers = append(c.callers, caller{client: gone, ctx: ctx, tool: "post", times: 1, want: "not_ready"})
}

// is compares the error of a call with the expected error.type.
func (c *scene) is(err error, want string) {
	got := ""
	if failed, ok := errors.AsType[*mcpclient.Error](err); ok {
		got = failed.ErrorType()
	}
	if got != want {
		c.t.Errorf("want the error.type %q, got %q: %v", want, got, err)
	}
}

// versions creates two versions of a service, two of a server, and two instances of a service. The second of each
// starts later and fails.
func (c *scene) versions(ctx context.Context) {
	search := c.plain("search", "1", "find")
	for i, version := range []string{"1", "2"} {
		instance := []string{"a", "b"}[i]
		if i > 0 {
			await(c.t, ctx, c.stack, `mcp_client_server_info{mcp_client_server_version="8"}`, func(all []prom.Series) bool {
				return len(all) > 0
			})
		}
		agent := c.connect(ctx, c.service("agent", version, "agent-"+instance), "search", search)
		worker := c.connect(ctx, c.service("worker", "1", "worker-"+instance), "search", search)
		stock := c.connect(ctx, c.service("buyer", "1", "buyer-"+instance), "stock",
			c.plain("stock", []string{"8", "9"}[i], "find"))
		for _, client := range []*mcpclient.Client{agent, worker, stock} {
			if i == 0 {
				c.calls(ctx, client, "find", 1)
			} else {
				c.fails(ctx, client, "find")
			}
		}
	}
}

// bookings creates calls that fail because the server of bookings calls a server that fails. Another server that the
// server of bookings calls is healthy.
func (c *scene) bookings(ctx context.Context) {
	p := c.service("booking", "1", "booking-1")
	bank := c.connect(ctx, p, "bank", c.plain("bank", "1", "charge"))
	mail := c.connect(ctx, p, "mail", c.plain("mail", "1", "send"))
	_, booking := c.server(p, "booking", "1", "book", func(ctx context.Context, in input) (string, error) {
		if _, err := mail.CallTool(ctx, "send", input{}); err != nil {
			return "", err
		}
		if _, err := bank.CallTool(ctx, "charge", in); err != nil {
			return "", &mcp.Error{Code: mcp.CodeInternalError, Message: "no payment"}
		}
		return "booked", nil
	}, mcpserver.Options{})
	c.fails(ctx, c.connect(ctx, c.service("front", "1", "front-1"), "booking", booking), "book")
}

// limits keeps nine large calls in flight at a server with ten places.
func (c *scene) limits(ctx context.Context) {
	const places, taken, frameLimit = 10, 9, 64 << 10
	held := make(chan struct{}, taken)
	_, full := c.server(c.serving, "full", "1", "hold", func(ctx context.Context, _ input) (string, error) {
		held <- struct{}{}
		<-ctx.Done()
		return "", ctx.Err()
	}, mcpserver.Options{Limits: mcpserver.Limits{Concurrent: places, Frame: frameLimit}})
	client := c.connect(ctx, c.service("holder", "1", "holder-1"), "full", full)
	var holding sync.WaitGroup
	ctx, leave := context.WithCancel(ctx)
	c.t.Cleanup(func() { leave(); holding.Wait() })
	pad := string(make([]byte, 4*frameLimit/places*9/10/6)) // a zero byte is \u0000 in JSON
	for range taken {
		holding.Go(func() { client.CallTool(ctx, "hold", input{Pad: pad}, mcpclient.WithTimeout(-1)) })
	}
	for range taken {
		select {
		case <-held:
		case <-ctx.Done():
			c.t.Fatal(context.Cause(ctx))
		}
	}
}

// processes creates two processes of a service, one after the other. The second one has a later version, and no space
// for its spans.
func (c *scene) processes(ctx context.Context) {
	self, err := os.Executable()
	c.must(err)
	p := c.service("shopper", "1", "shopper-1")
	for version, queue := range []string{"2048", "1"} {
		client := c.connect(ctx, p, "shelf", transport.Stdio{Command: self, Env: []string{environmentShop + "=shelf",
			"OTEL_EXPORTER_OTLP_ENDPOINT=http://" + c.stack.OTLP(), "OTEL_GO_X_OBSERVABILITY=true",
			"OTEL_BSP_MAX_QUEUE_SIZE=" + queue, fmt.Sprintf(
				"OTEL_RESOURCE_ATTRIBUTES=service.version=%d,service.instance.id=shelf-%[1]d", version+1)}})
		c.calls(ctx, client, "add", callsOfChatty/4)
	}
}

// play makes the calls of a round, all at once.
func (c *scene) play(ctx context.Context) {
	var playing sync.WaitGroup
	for _, change := range c.changes {
		playing.Go(func() {
			if err := change(ctx); err != nil && ctx.Err() == nil {
				c.t.Error(err)
			}
		})
	}
	for _, from := range c.callers {
		playing.Go(func() {
			for range from.times {
				if _, err := from.client.CallTool(from.ctx, from.tool, input{Broken: from.broken}); ctx.Err() == nil {
					c.is(err, from.want)
				}
			}
		})
	}
	playing.Wait()
}
