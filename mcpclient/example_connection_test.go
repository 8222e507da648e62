package mcpclient_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// A server hangs while there is no call. The client detects this and reconnects.
func ExampleOptions_keepAlive() {
	ctx := context.Background()
	lost := make(chan connstate.Transition, 1)
	client, err := mcpclient.Connect(ctx, hangsOnce(), &mcpclient.Options{
		KeepAlive: 20 * time.Millisecond, // use about a minute in a program
		OnTransition: func(t connstate.Transition) {
			if t.From == connstate.Ready {
				select {
				case lost <- t:
				default: // one transition is enough here
				}
			}
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()

	t := <-lost
	fmt.Println("from", t.From, "to", t.To, "because of", t.Reason)
	if err := client.WaitForReady(ctx); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("connected anew")
	// Output:
	// from ready to backoff because of transport_down
	// connected anew
}

// hangsOnce is a server that answers its first client only until the client is connected. It answers all later clients.
func hangsOnce() transport.Transport {
	var asked atomic.Int64
	s := mcpserver.New(mcp.Implementation{Name: "hangs", Version: "1.0"}, &mcpserver.Options{
		Middleware: []func(mcpserver.RequestHandler) mcpserver.RequestHandler{
			func(next mcpserver.RequestHandler) mcpserver.RequestHandler {
				return func(ctx context.Context, r *mcpserver.Request) (any, error) {
					if r.Method == mcp.MethodDiscover && asked.Add(1) == 2 { // the first request belongs to the handshake
						<-ctx.Done()
						return nil, ctx.Err()
					}
					return next(ctx, r)
				}
			},
		},
	})
	return inMemory(s)
}

// While the server reads nothing, messages wait until there is no more room. A call can wait for room.
func ExampleWaitForRoom() {
	ctx := context.Background()
	server := &restingServer{rests: make(chan struct{}), goesOn: make(chan struct{})}
	client, err := mcpclient.Connect(ctx, transport.InMemory(server.serve),
		&mcpclient.Options{Limits: mcpclient.Limits{SendQueue: 64 << 10}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()

	if err := client.Notify(ctx, "notifications/acme/rest", nil); err != nil {
		fmt.Println(err)
		return
	}
	<-server.rests
	text := note{Text: strings.Repeat("x", 10_000)}
	for err == nil {
		err = client.Notify(ctx, "notifications/acme/note", text)
	}
	fmt.Println("no room for a notification:", errors.Is(err, mcpclient.ErrBackpressure))
	_, err = client.CallTool(ctx, "add", text)
	fmt.Println("no room for a call:", errors.Is(err, mcpclient.ErrBackpressure), "it may be made again:",
		mcpclient.SafeToRetry(err))

	added := make(chan error)
	go func() {
		_, err := client.CallTool(ctx, "add", text, mcpclient.WaitForRoom())
		added <- err
	}()
	close(server.goesOn)
	fmt.Println("with WaitForRoom:", <-added)
	// Output:
	// no room for a notification: true
	// no room for a call: true it may be made again: true
	// with WaitForRoom: <nil>
}

type note struct {
	Text string `json:"text"`
}

// restingServer reads nothing after a certain notification until it may continue.
type restingServer struct{ rests, goesOn chan struct{} }

func (r *restingServer) serve(ctx context.Context, peer *transport.Peer) {
	s := mcpserver.New(mcp.Implementation{Name: "notes", Version: "1.0"}, nil)
	err := mcpserver.AddTool(s, &mcp.Tool{Name: "add"},
		func(context.Context, note) (string, error) { return "added", nil })
	if err != nil {
		panic(err)
	}
	_ = s.Serve(ctx, restingConn{peer, r})
}

type restingConn struct {
	*transport.Peer
	server *restingServer
}

func (c restingConn) Receive(ctx context.Context) ([]byte, error) {
	data, err := c.Peer.Receive(ctx)
	if bytes.Contains(data, []byte("notifications/acme/rest")) {
		close(c.server.rests)
		<-c.server.goesOn
	}
	return data, err
}

// A program can inspect each of its clients, for example for a health page.
func ExampleClients() {
	ctx := context.Background()
	client, err := mcpclient.Connect(ctx, weatherServer(), &mcpclient.Options{Name: "forecasts"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range mcpclient.Clients() {
		now := c.Inspect()
		if now.Name != "forecasts" {
			continue // this process has other clients too
		}
		fmt.Println(now.Name, now.State, "server:", now.Server, "calls:", now.InFlight)
	}
	if err := client.Close(); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("listed when it has ended:", slices.Contains(mcpclient.Clients(), client))
	// Output:
	// forecasts ready server: weather calls: 0
	// listed when it has ended: false
}
