package gameday

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpclient/transport/chaos"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// Exporting is the telemetry of one service, as package otlp sets it up.
type Exporting interface {
	Telemetry(options ...telemetry.Option) *telemetry.Telemetry
	Shutdown(ctx context.Context) error
}

// stage is the environment of one drill: a client, a server, and their telemetry. Calls to rounds and to close do not
// overlap.
type stage struct {
	name    string // name of the client and of the server
	service Exporting
	begin   func(ctx context.Context) (Exporting, error) // starts the service again
	behind  sync.WaitGroup                               // calls that may outlive their round; they end with the drill
	closing []func(ctx context.Context) error
}

// close ends everything that was opened, in reverse order.
func (s *stage) close(ctx context.Context) error {
	var failed []error
	for _, end := range slices.Backward(s.closing) {
		failed = append(failed, end(ctx))
	}
	s.closing = nil
	s.behind.Wait()
	return errors.Join(failed...)
}

// tool handles the calls of one tool and returns the text of the result.
type tool func(ctx context.Context) (string, error)

// fine is the name of a tool that always succeeds; every server has it.
const fine = "fine"

func ok(context.Context) (string, error) { return "as it should be", nil }

// serve returns a server with these tools and the tool fine.
func (s *stage) serve(tools map[string]tool) (*mcpserver.Server, error) {
	return s.serveWith(mcpserver.Options{}, tools)
}

// serveWith is like serve, with options.
func (s *stage) serveWith(o mcpserver.Options, tools map[string]tool) (*mcpserver.Server, error) {
	o.Name, o.Telemetry = s.name, s.service.Telemetry()
	server := mcpserver.New(mcp.Implementation{Name: s.name, Version: "1"}, &o)
	s.closing = append(s.closing, server.Shutdown)
	failed := []error{add(server, fine, "", ok)}
	for name, t := range tools {
		failed = append(failed, add(server, name, "", t))
	}
	return server, errors.Join(failed...)
}

// add adds a tool without arguments to a server.
func add(server *mcpserver.Server, name, description string, t tool) error {
	return mcpserver.AddTool(server, &mcp.Tool{Name: name, Description: description},
		func(ctx context.Context, _ struct{}) (string, error) { return t(ctx) })
}

// to returns a transport to a server in this process.
func to(server *mcpserver.Server) transport.Transport {
	return transport.InMemory(func(ctx context.Context, p *transport.Peer) { _ = server.Serve(ctx, p) })
}

// connect returns a client, which may not be ready yet.
func (s *stage) connect(t transport.Transport, o *mcpclient.Options) (*mcpclient.Client, error) {
	if o == nil {
		o = &mcpclient.Options{}
	}
	o.Name, o.Telemetry = s.name, s.service.Telemetry(telemetry.WithContextCost())
	c, err := mcpclient.New(t, o)
	if err == nil {
		s.closing = append(s.closing, func(context.Context) error { return c.Close() })
	}
	return c, err
}

// pair starts a server with these tools and returns a client of the server. The faults are injected between the client
// and the server.
func (s *stage) pair(tools map[string]tool, faults ...chaos.Fault) (*mcpclient.Client, error) {
	server, err := s.serve(tools)
	if err != nil {
		return nil, err
	}
	t := to(server)
	if len(faults) > 0 {
		if t, err = chaos.Wrap(t, &chaos.Plan{Faults: faults}); err != nil {
			return nil, err
		}
	}
	return s.connect(t, &mcpclient.Options{Backoff: mcpclient.Backoff{Min: 100 * time.Millisecond}})
}

// call calls a tool once there is a connection. It turns a tool error into an error.
func call(ctx context.Context, c *mcpclient.Client, name string, o ...mcpclient.CallOption) error {
	r, err := c.CallTool(ctx, name, nil, append(o, mcpclient.WaitForReady())...)
	if err == nil && r.IsError {
		return errors.New(r.Text())
	}
	return err
}

// calls makes n calls of the tool fine.
func calls(ctx context.Context, c *mcpclient.Client, n int) error {
	for range n {
		if err := call(ctx, c, fine); err != nil {
			return fmt.Errorf("a call that should succeed has failed: %w", err)
		}
	}
	return nil
}

// wrong returns an error if err is nil, because the call should have failed.
func wrong(err error) error {
	if err == nil {
		return errors.New("a call that should fail has succeeded")
	}
	return nil
}
