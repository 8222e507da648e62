package traffic

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcp/drift"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
	"github.com/mcpotel/mcpotel/testenv/stack/shop"
)

// args are the arguments of a tool.
type args = map[string]any

// linger is the time for which a condition must last so that an export and a scrape see it.
const linger = 3 * time.Second

// shopper returns the assistant's client of the shop.
func (f *Fleet) shopper(ctx context.Context) (*mcpclient.Client, error) {
	comparing := mcpclient.UseDriftDetection(&mcpclient.DriftOptions{Baseline: drift.Tools{}}) // all tools are new
	return f.client(ctx, assistant, "shop", f.http("/mcp", transport.ModeAuto),
		mcpclient.Options{Features: []mcpclient.Feature{comparing}})
}

func succeed(ctx context.Context, f *Fleet) error {
	ctx, err := telemetry.ContextWithConversation(ctx,
		telemetry.Conversation{ID: rand.Text(), Agent: "shopping-agent", User: "ada"})
	if err != nil {
		return err
	}
	shopping, err := f.shopper(ctx)
	if err != nil {
		return err
	}
	reckoning, err := f.client(ctx, batch, "shop-batch", f.http("/mcp", transport.ModeAuto),
		mcpclient.Options{Versions: legacy})
	if err != nil {
		return err
	}
	forecasting, err := f.client(ctx, assistant, "weather", f.weather, mcpclient.Options{})
	if err != nil {
		return err
	}
	for _, err := range shopping.Tools(ctx) {
		if err != nil {
			return err
		}
	}
	for i := range 5 {
		for _, c := range []*mcpclient.Client{shopping, reckoning} {
			if err := succeeds(c.CallTool(ctx, "add", args{"a": i, "b": 1})); err != nil {
				return err
			}
		}
		if err := succeeds(forecasting.CallTool(ctx, "forecast", args{"city": "Oslo"})); err != nil {
			return err
		}
	}
	if err := f.stuck(ctx); err != nil {
		return err
	}
	if _, err := shopping.GetPrompt(ctx, shop.Pitch, nil); err != nil {
		return err
	}
	_, err = shopping.ReadResource(ctx, shop.PriceURI, mcpclient.WithoutCache())
	return err
}

// stuck repeats one call until the client refuses to send it.
func (f *Fleet) stuck(ctx context.Context) error {
	c, err := f.client(ctx, assistant, "shop-watched", f.http("/mcp", transport.ModeAuto), mcpclient.Options{
		Features: []mcpclient.Feature{mcpclient.UseLoopDetection(&mcpclient.LoopOptions{Break: true})}})
	if err != nil {
		return err
	}
	again := func() error { return succeeds(c.CallTool(ctx, "add", args{"a": 2, "b": 2})) }
	for range 5 {
		if err := again(); err != nil {
			return err
		}
	}
	return fails("a call that is not sent", again(), is(mcpclient.ErrLoop))
}

// succeeds returns an error unless the call succeeded.
func succeeds(r *mcp.CallToolResult, err error) error {
	if err == nil && r.IsError {
		return fmt.Errorf("the tool failed: %s", r.Text())
	}
	return err
}

// reports returns an error unless the tool reported an error.
func reports(r *mcp.CallToolResult, err error) error {
	if err == nil && !r.IsError {
		return fmt.Errorf("want a tool error, got %s", r.Text())
	}
	return err
}

// fails returns an error unless the call failed with an error for which ok reports true.
func fails(what string, err error, ok func(error) bool) error {
	if err == nil || !ok(err) {
		return fmt.Errorf("want %s, got %v", what, err)
	}
	return nil
}

func is(target error) func(error) bool { return func(err error) bool { return errors.Is(err, target) } }

func kind(k mcpclient.ErrorKind) func(error) bool {
	return func(err error) bool {
		e, ok := errors.AsType[*mcpclient.Error](err)
		return ok && e.Kind == k
	}
}

func toolErrors(ctx context.Context, f *Fleet) error {
	c, err := f.shopper(ctx)
	if err != nil {
		return err
	}
	return reports(c.CallTool(ctx, "fail", nil))
}

func rpcErrors(ctx context.Context, f *Fleet) error {
	c, err := f.shopper(ctx)
	if err != nil {
		return err
	}
	_, refused := c.CallTool(ctx, "refuse", nil)
	_, unknown := c.CallTool(ctx, "nosuch", nil)
	_, missing := c.ReadResource(ctx, "shop://nosuch")
	return errors.Join(fails("a refusal", refused, kind(mcpclient.KindJSONRPC)),
		fails("no such tool", unknown, kind(mcpclient.KindJSONRPC)),
		fails("no such resource", missing, is(mcp.ErrResourceNotFound)))
}

func timeouts(ctx context.Context, f *Fleet) error {
	shopping, err := f.shopper(ctx)
	if err != nil {
		return err
	}
	forecasting, err := f.client(ctx, assistant, "weather", f.weather, mcpclient.Options{})
	if err != nil {
		return err
	}
	var failed []error
	for _, c := range []*mcpclient.Client{shopping, forecasting} {
		_, err := c.CallTool(ctx, "wait", args{"seconds": 30}, mcpclient.WithTimeout(100*time.Millisecond))
		failed = append(failed, fails("a timeout", err, is(mcpclient.ErrTimeout)))
	}
	return errors.Join(failed...)
}

func cancels(ctx context.Context, f *Fleet) error {
	shopping, err := f.shopper(ctx)
	if err != nil {
		return err
	}
	forecasting, err := f.client(ctx, assistant, "weather", f.weather, mcpclient.Options{})
	if err != nil {
		return err
	}
	var failed []error
	for _, c := range []*mcpclient.Client{shopping, forecasting} {
		impatient, cancel := context.WithCancel(ctx)
		time.AfterFunc(100*time.Millisecond, cancel)
		_, err := c.CallTool(impatient, "wait", args{"seconds": 30})
		failed = append(failed, fails("a cancellation", err, kind(mcpclient.KindCancelled)))
	}
	return errors.Join(failed...)
}

// together makes n concurrent calls and joins their errors.
func together(n int, call func() error) error {
	results := make(chan error, n)
	for range n {
		go func() { results <- call() }() // ends with the call's own timeout
	}
	var failed []error
	for range n {
		failed = append(failed, <-results)
	}
	return errors.Join(failed...)
}

func slow(ctx context.Context, f *Fleet) error {
	c, err := f.shopper(ctx)
	if err != nil {
		return err
	}
	return together(3, func() error { return succeeds(c.CallTool(ctx, "wait", args{"seconds": linger.Seconds()})) })
}

func large(ctx context.Context, f *Fleet) error {
	c, err := f.shopper(ctx)
	if err != nil {
		return err
	}
	for size := 1 << 10; size <= 1<<20; size <<= 2 {
		if err := succeeds(c.CallTool(ctx, "big", args{"bytes": size})); err != nil {
			return err
		}
	}
	piped, err := f.client(ctx, assistant, "weather", f.weather, mcpclient.Options{})
	if err != nil {
		return err
	}
	// More data than a pipe holds, in both directions, so that messages queue up or are refused.
	long := args{"city": strings.Repeat("Llanfairpwllgwyngyll", 1<<12)}
	return errors.Join(
		together(8, func() error { return unlessBusy(piped.CallTool(ctx, "forecast", long)) }),
		together(50, func() error { return unlessBusy(piped.CallTool(ctx, "forecast", args{"city": "Ai", "days": 500})) }),
	)
}

// unlessBusy is like succeeds, for a call that may also fail because the send queue is full.
func unlessBusy(r *mcp.CallToolResult, err error) error {
	if errors.Is(err, mcpclient.ErrBackpressure) {
		return nil
	}
	return succeeds(r, err)
}

func serverPanics(ctx context.Context, f *Fleet) error {
	c, err := f.shopper(ctx)
	if err != nil {
		return err
	}
	_, err = c.CallTool(ctx, "panic", nil)
	return fails("an internal error", err, kind(mcpclient.KindJSONRPC))
}

func crash(ctx context.Context, f *Fleet) error {
	c, err := f.client(ctx, assistant, "shaky", f.weather, mcpclient.Options{
		Backoff:  mcpclient.Backoff{Min: 200 * time.Millisecond},
		Features: []mcpclient.Feature{mcpclient.HandleToolListChanged(func(context.Context) {})},
	})
	if err != nil {
		return err
	}
	_, err = c.CallTool(ctx, "crash", nil)
	if err := fails("a lost connection", err, is(mcpclient.ErrConnectionLost)); err != nil {
		return err
	}
	return succeeds(c.CallTool(ctx, "forecast", args{"city": "Rome"}, mcpclient.WaitForReady()))
}

func absent(ctx context.Context, f *Fleet) error {
	f.mu.Lock()
	c := f.clients["absent"]
	f.mu.Unlock()
	if c == nil {
		p, err := f.service(ctx, assistant)
		if err != nil {
			return err
		}
		o := &mcpclient.Options{Name: "absent", TelemetryGroup: "suppliers", Telemetry: p.Telemetry(),
			Backoff: mcpclient.Backoff{Min: 500 * time.Millisecond, Max: 5 * time.Second}}
		if c, err = mcpclient.New(&transport.HTTP{URL: f.absent}, o); err != nil {
			return err
		}
		f.mu.Lock()
		f.clients["absent"] = c
		f.mu.Unlock()
		f.later(func(context.Context) error { return c.Close() })
	}
	_, err := c.CallTool(ctx, "add", nil)
	if err := fails("a client that is not ready", err, is(mcpclient.ErrNotReady)); err != nil {
		return err
	}
	return c.WaitForState(ctx, connstate.Backoff)
}

func violate(ctx context.Context, f *Fleet) error {
	c, err := f.client(ctx, assistant, "impolite", f.impolite, mcpclient.Options{})
	if err != nil {
		return err
	}
	for name := range violations {
		if err := succeeds(c.CallTool(ctx, name, nil)); err != nil {
			return fmt.Errorf("after a frame with %s: %w", name, err)
		}
	}
	_, err = c.CallTool(ctx, "nonsense", nil)
	if err := fails("an error of the protocol", err, kind(mcpclient.KindProtocol)); err != nil {
		return err
	}
	return f.post(ctx, `{"jsonrpc":"2.0",`)
}

// post sends an invalid request to the shop.
func (f *Fleet) post(ctx context.Context, body string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, f.shopURL+"/mcp", bytes.NewBufferString(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusBadRequest {
		return fmt.Errorf("the shop accepts %q: %s", body, resp.Status)
	}
	return nil
}

func lateAnswers(ctx context.Context, f *Fleet) error {
	c, err := f.client(ctx, assistant, "forgetful", f.impolite, mcpclient.Options{})
	if err != nil {
		return err
	}
	_, timeout := c.CallTool(ctx, "late", nil, mcpclient.WithTimeout(lateness/3))
	impatient, cancel := context.WithCancel(ctx)
	defer cancel()
	time.AfterFunc(lateness/3, cancel)
	_, cancelled := c.CallTool(impatient, "late", nil)
	failed := []error{fails("a timeout", timeout, is(mcpclient.ErrTimeout)),
		fails("a cancellation", cancelled, kind(mcpclient.KindCancelled))}
	for _, tool := range []string{"twice", "stray", "ok"} {
		failed = append(failed, succeeds(c.CallTool(ctx, tool, nil)))
	}
	asked, err := f.client(ctx, assistant, "shop-hurried", f.http("/mcp", transport.ModeAuto), mcpclient.Options{
		Versions: legacy, Features: []mcpclient.Feature{mcpclient.HandleElicitation(thoughtful(300 * time.Millisecond))},
	})
	if err != nil {
		return err
	}
	failed = append(failed, succeeds(asked.CallTool(ctx, "hurry", args{"seconds": 0.1})))
	return errors.Join(append(failed, f.tell(ctx, `{"jsonrpc":"2.0","id":987654321,"result":{}}`))...)
}

// tell connects to the shop, sends one line and disconnects.
func (f *Fleet) tell(ctx context.Context, line string) error {
	in := io.NopCloser(strings.NewReader(line + "\n"))
	return f.shop.Serve(ctx, mcpserver.NewStreamConn(in, discard{}, mcpserver.DefaultFrameLimit))
}

// discard drops all output of the shop.
type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
func (discard) Close() error                { return nil }

func busyRetries(ctx context.Context, f *Fleet) error {
	refused, err := f.client(ctx, assistant, "busy", f.http("/busy", transport.ModeStreamable), mcpclient.Options{})
	if err != nil {
		return err
	}
	narrow, err := f.client(ctx, assistant, "narrow", func() (transport.Transport, error) {
		return narrowTransport{&transport.HTTP{URL: f.shopURL + "/mcp"}}, nil
	}, mcpclient.Options{})
	if err != nil {
		return err
	}
	var failed []error
	for range 4 {
		failed = append(failed, succeeds(refused.CallTool(ctx, "add", args{"a": 1})))
	}
	for range 3 {
		failed = append(failed, succeeds(narrow.CallTool(ctx, "wait", args{"seconds": 0.02})))
	}
	return errors.Join(failed...)
}

// narrowTransport reports a full queue for every other request.
type narrowTransport struct{ transport.Transport }

func (t narrowTransport) Dial(ctx context.Context, cfg transport.Config) (transport.Conn, error) {
	conn, err := t.Transport.Dial(ctx, cfg)
	return &narrowConn{Conn: conn}, err
}

type narrowConn struct {
	transport.Conn
	calls atomic.Int32
}

func (c *narrowConn) Send(ctx context.Context, m transport.Message) error {
	if m.Method == mcp.MethodCallTool && c.calls.Add(1)%2 == 1 {
		return transport.ErrBusy
	}
	return c.Conn.Send(ctx, m)
}
