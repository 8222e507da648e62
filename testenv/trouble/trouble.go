// Command trouble is a process with clients and servers in every kind of trouble, to show its debug page. It prints the
// URL of the page, and ends when it is interrupted:
//
//	go run ./testenv/trouble
package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/propagation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// hostile is a tool name with which an attacker tries to break a page.
const hostile = "<script>alert(1)</script>\u202egnp.\x1b[31m" + `"><img src=x onerror=alert(1)>`

// troubled holds the clients and servers.
type troubled struct {
	ctx     context.Context
	cancel  context.CancelFunc
	running sync.WaitGroup
	tel     *telemetry.Telemetry
	spans   *sdktrace.TracerProvider

	weather *mcpserver.Server
	front   *mcpserver.HTTPHandler
	http    *http.Server
	url     string
	lost    atomic.Bool // the server of the calendar is down
	clients []*mcpclient.Client
}

// start starts the clients and servers, and returns when each client has reached its state:
//
//	weather    ready: calls that succeed, fail, time out and are under way, and a task
//	calendar   in backoff, after its server died in the middle of a call
//	search     initializing, with a silent server and a waiting call
//	mail       gave up, because its server closes the connection at once
//	archive    ready, over HTTP, with a session of 2025-11-25
//
// The caller must stop them.
func start(ctx context.Context) (*troubled, error) {
	p := &troubled{spans: sdktrace.NewTracerProvider()}
	p.ctx, p.cancel = context.WithCancel(context.WithoutCancel(ctx))
	p.tel = telemetry.New(telemetry.WithTracerProvider(p.spans), telemetry.WithPropagators(propagation.TraceContext{}))
	for _, begin := range []func(context.Context) error{p.serve, p.callWeather, p.loseCalendar, p.waitForSearch,
		p.refuseMail, p.openArchive} {
		if err := begin(ctx); err != nil {
			p.stop()
			return nil, err
		}
	}
	return p, nil
}

// stop ends everything.
func (p *troubled) stop() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	p.cancel()
	for _, c := range p.clients {
		_ = c.Close()
	}
	if p.http != nil {
		_ = p.front.Shutdown(ctx)
		_ = p.http.Shutdown(ctx)
	}
	p.running.Wait()
	_ = p.spans.Shutdown(ctx)
}

type city struct {
	City string `json:"city"`
}

// serve starts the server, in memory and over HTTP.
func (p *troubled) serve(context.Context) error {
	p.weather = mcpserver.New(mcp.Implementation{Name: "weather", Version: "2.4.1"}, &mcpserver.Options{
		Telemetry: p.tel, Limits: mcpserver.Limits{Concurrent: 3}, RequestTimeout: time.Minute,
	})
	pause := func(low, high time.Duration) { time.Sleep(low + rand.N(high-low)) }
	err := errors.Join(
		mcpserver.AddTool(p.weather, &mcp.Tool{Name: "forecast"}, func(_ context.Context, in city) (string, error) {
			pause(200*time.Microsecond, 3*time.Millisecond)
			return "sun in " + in.City, nil
		}),
		mcpserver.AddTool(p.weather, &mcp.Tool{Name: "radar"}, func(ctx context.Context, in city) (string, error) {
			pause(5*time.Millisecond, 30*time.Millisecond)
			if rand.IntN(3) == 0 {
				return "", errors.New("no radar for " + in.City)
			}
			return "rain", nil
		}),
		mcpserver.AddTool(p.weather, &mcp.Tool{Name: "stations"}, func(ctx context.Context, _ city) (string, error) {
			<-ctx.Done()
			return "", ctx.Err()
		}),
		mcpserver.AddTool(p.weather, &mcp.Tool{Name: "climate"}, func(ctx context.Context, _ city) (string, error) {
			<-ctx.Done()
			return "", ctx.Err()
		}, mcpserver.TaskTool()),
	)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	p.front = p.weather.HTTPHandler(&mcpserver.HTTPOptions{TrustTraceContext: true})
	p.http = &http.Server{Handler: p.front, ReadHeaderTimeout: 5 * time.Second}
	p.url = "http://" + l.Addr().String() + "/mcp"
	p.running.Go(func() { _ = p.http.Serve(l) })
	return nil
}

// inMemory returns a transport to s.
func inMemory(s *mcpserver.Server) transport.Transport {
	return transport.InMemory(func(ctx context.Context, peer *transport.Peer) { _ = s.Serve(ctx, peer) })
}

func (p *troubled) client(name string, t transport.Transport, o mcpclient.Options) (*mcpclient.Client, error) {
	o.Name, o.Telemetry = name, p.tel
	c, err := mcpclient.New(t, &o)
	if err == nil {
		p.clients = append(p.clients, c)
	}
	return c, err
}

// callWeather calls tools with every outcome, and leaves some calls in flight.
func (p *troubled) callWeather(ctx context.Context) error {
	c, err := p.client("weather", inMemory(p.weather),
		mcpclient.Options{Features: []mcpclient.Feature{mcpclient.UseTasks(nil)}})
	if err == nil {
		err = c.WaitForReady(ctx)
	}
	if err != nil {
		return err
	}
	call := func(ctx context.Context, tool string, options ...mcpclient.CallOption) {
		_, _ = c.CallTool(ctx, tool, city{"Oslo"}, options...) // the page shows the outcome
	}
	var calls sync.WaitGroup
	for n := range 120 {
		calls.Go(func() { call(ctx, "forecast") })
		if n%3 == 0 {
			calls.Go(func() { call(ctx, "radar") })
		}
		if n%30 == 29 {
			calls.Wait()
		}
	}
	call(ctx, "stations", mcpclient.WithTimeout(250*time.Millisecond))
	call(ctx, hostile)
	hurried, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	call(hurried, "stations")
	cancel()
	calls.Wait()
	if _, err := c.StartTool(ctx, "climate", city{"Oslo"}); err != nil {
		return err
	}
	for range 5 { // three of these calls run at once
		p.running.Go(func() {
			ctx, span := p.spans.Tracer("trouble").Start(p.ctx, "a user's request")
			defer span.End()
			call(ctx, "stations", mcpclient.WithTimeout(50*time.Second))
		})
	}
	return until(ctx, func() bool { return c.Inspect().InFlight == 5 }, "calls under way")
}

// loseCalendar makes a server die in the middle of a call.
func (p *troubled) loseCalendar(ctx context.Context) error {
	calendar := mcpserver.New(mcp.Implementation{Name: "calendar", Version: "0.9"},
		&mcpserver.Options{Telemetry: telemetry.Off()})
	crash := make(chan struct{})
	err := mcpserver.AddTool(calendar, &mcp.Tool{Name: "sync"}, func(ctx context.Context, _ city) (string, error) {
		close(crash)
		<-ctx.Done()
		return "", ctx.Err()
	})
	if err != nil {
		return err
	}
	t := transport.InMemory(func(ctx context.Context, peer *transport.Peer) {
		if p.lost.Load() {
			_ = peer.Close()
			return
		}
		p.running.Go(func() { // ends with the connection, or when the server dies
			select {
			case <-crash:
				p.lost.Store(true)
				_ = peer.Close()
			case <-ctx.Done():
			}
		})
		_ = calendar.Serve(ctx, peer)
	})
	c, err := p.client("calendar", t, mcpclient.Options{Backoff: mcpclient.Backoff{Min: 40 * time.Second,
		Max: 40 * time.Second}})
	if err == nil {
		err = c.WaitForReady(ctx)
	}
	if err != nil {
		return err
	}
	_, _ = c.CallTool(ctx, "sync", city{})
	return c.WaitForState(ctx, connstate.Backoff)
}

// waitForSearch makes a client wait for a silent server.
func (p *troubled) waitForSearch(ctx context.Context) error {
	t := transport.InMemory(func(ctx context.Context, peer *transport.Peer) {
		for {
			if _, err := peer.Receive(ctx); err != nil {
				return
			}
		}
	})
	c, err := p.client("search", t, mcpclient.Options{Timeouts: mcpclient.Timeouts{Init: 10 * time.Minute}})
	if err != nil {
		return err
	}
	p.running.Go(func() {
		_, _ = c.CallTool(p.ctx, "find", nil, mcpclient.WithTimeout(time.Minute), mcpclient.WaitForReady())
	})
	return until(ctx, func() bool {
		i := c.Inspect()
		return i.State == connstate.Initializing && i.Waiting == 1
	}, "a call to wait for search")
}

// refuseMail makes a client give up.
func (p *troubled) refuseMail(ctx context.Context) error {
	t := transport.InMemory(func(_ context.Context, peer *transport.Peer) { _ = peer.Close() })
	c, err := p.client("mail", t, mcpclient.Options{Backoff: mcpclient.Backoff{Attempts: 2, Min: time.Millisecond}})
	if err != nil {
		return err
	}
	select {
	case <-c.Done():
		return nil
	case <-ctx.Done():
		return fmt.Errorf("mail: the client did not give up: %w", ctx.Err())
	}
}

// openArchive opens a session over HTTP, and leaves a call in flight.
func (p *troubled) openArchive(ctx context.Context) error {
	c, err := p.client("archive", &transport.HTTP{URL: p.url},
		mcpclient.Options{Versions: []mcp.Version{mcp.Version20251125}})
	if err == nil {
		err = c.WaitForReady(ctx)
	}
	if err != nil {
		return err
	}
	for range 40 {
		if _, err := c.CallTool(ctx, "forecast", city{"Rome"}); err != nil {
			return err
		}
	}
	p.running.Go(func() { _, _ = c.CallTool(p.ctx, "stations", city{}, mcpclient.WithTimeout(45*time.Second)) })
	return until(ctx, func() bool { return c.Inspect().InFlight > 0 }, "a call of the archive")
}

// until waits for a condition.
func until(ctx context.Context, done func() bool, what string) error {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w", what, ctx.Err())
		}
	}
	return nil
}
