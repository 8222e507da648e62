package transport_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// A server in the same process sends each frame back.
func ExampleInMemory() {
	server := transport.InMemory(func(ctx context.Context, p *transport.Peer) {
		for {
			data, err := p.Receive(ctx)
			if err != nil || p.Send(ctx, data) != nil {
				return
			}
		}
	})
	conn, err := server.Dial(context.Background(), transport.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer conn.Close(context.Background())
	hello := transport.Message{Data: []byte(`{"jsonrpc":"2.0","method":"hello"}`)}
	if err := conn.Send(context.Background(), hello); err != nil {
		fmt.Println(err)
		return
	}
	frame, err := conn.Receive(context.Background())
	fmt.Printf("%s %v\n", frame.Data, err)
	// Output: {"jsonrpc":"2.0","method":"hello"} <nil>
}

// A server runs as a child process. Closing the connection takes a second at most.
func ExampleStdio() {
	server := transport.Stdio{
		Command: "npx",
		Args:    []string{"-y", "@modelcontextprotocol/server-everything"},
		Stderr:  func(line string) { fmt.Println("server:", line) },
	}
	conn, err := server.Dial(context.Background(), transport.Config{})
	if transport.Permanent(err) {
		fmt.Println("install it first:", err)
		return
	}
	if err != nil {
		fmt.Println("try again:", err)
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := conn.Close(ctx); err != nil {
		fmt.Println(err)
	}
}

// A server at a URL. Dial does not contact the server, so an unreachable server shows only at the first message.
func ExampleHTTP() {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /mcp", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"jsonrpc":"2.0","id":1,"result":{}}`)
	})
	server := httptest.NewServer(mux)
	defer server.Close()

	t := &transport.HTTP{URL: server.URL + "/mcp", Header: http.Header{"X-Api-Key": {"key"}}}
	conn, err := t.Dial(context.Background(), transport.Config{})
	if err != nil {
		fmt.Println("not a URL:", err)
		return
	}
	defer conn.Close(context.Background())
	ping := transport.Message{
		Data: []byte(`{"jsonrpc":"2.0","id":1,"method":"ping"}`), Kind: transport.KindRequest, ID: 1, Method: "ping",
	}
	if err := conn.Send(context.Background(), ping); err != nil {
		fmt.Println(err)
		return
	}
	frame, err := conn.Receive(context.Background())
	switch {
	case err != nil:
		fmt.Println("the connection has ended:", err)
	case frame.Err != nil:
		fmt.Println("this request has failed:", frame.Err)
	default:
		fmt.Printf("%s answers request %d\n", frame.Data, frame.Request)
	}
	// Output: {"jsonrpc":"2.0","id":1,"result":{}} answers request 1
}

func ExampleStreamsFrom() {
	server := transport.StreamsFrom(transport.Network{Transport: "unix"},
		func(ctx context.Context) (io.ReadWriteCloser, error) {
			return new(net.Dialer).DialContext(ctx, "unix", "/run/no-such-server.sock")
		})
	_, err := server.Dial(context.Background(), transport.Config{})
	fmt.Println("the socket does not exist:", errors.Is(err, fs.ErrNotExist), "another attempt may help:",
		!transport.Permanent(err))
	// Output: the socket does not exist: true another attempt may help: false
}

// A server at the other ends of two pipes. The pipes could also belong to a process or to an SSH session.
func ExampleStreams() {
	requests, toServer := io.Pipe()
	answers, toClient := io.Pipe()
	s := mcpserver.New(mcp.Implementation{Name: "weather", Version: "1.0"}, nil)
	served := make(chan error)
	go func() { served <- s.Serve(context.Background(), mcpserver.NewStreamConn(requests, toClient, 0)) }()

	ctx := context.Background()
	client, err := mcpclient.Connect(ctx, transport.Streams(answers, toServer), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("connected to", client.ServerInfo().Name)
	if err := client.Close(); err != nil { // closes the streams
		fmt.Println(err)
	}
	fmt.Println("the server has ended:", <-served)
	// Output:
	// connected to weather
	// the server has ended: <nil>
}
