package transport_test

import (
	"context"
	"fmt"
	"time"

	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// A server in the same process answers each frame with the same one.
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
	if err := conn.Send(context.Background(), transport.Message{Data: []byte(`{"jsonrpc":"2.0","method":"hello"}`)}); err != nil {
		fmt.Println(err)
		return
	}
	frame, err := conn.Receive(context.Background())
	fmt.Printf("%s %v\n", frame.Data, err)
	// Output: {"jsonrpc":"2.0","method":"hello"} <nil>
}

// A server as a child process. Closing it takes a second at most.
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
