// Command server is the server under test for the conformance suite. It has every tool, resource and prompt that the
// scenarios need, uses only the public API of package mcpserver, and serves every revision from one process and one
// URL.
//
//	server [-addr 127.0.0.1:3000]
//
// It serves at /mcp, prints the URL as one line to standard output, and ends when its standard input does.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpserver"
	"github.com/mcpotel/mcpotel/mcpserver/skills"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:0", "where to listen, HOST:PORT")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, end := context.WithCancel(ctx)
	go func() { // ends with the standard input
		_, _ = io.Copy(io.Discard, os.Stdin)
		end()
	}()
	if err := run(ctx, *addr); err != nil {
		log.Fatal(err)
	}
}

// run serves until ctx ends.
func run(ctx context.Context, addr string) error {
	s, err := newServer()
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	fmt.Printf("http://%s/mcp\n", l.Addr())
	h := s.HTTPHandler(nil)
	mux := http.NewServeMux()
	mux.Handle("/mcp", h)
	web := &http.Server{Handler: mux}
	served := make(chan error, 1)
	go func() { served <- web.Serve(l) }()
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	err = errors.Join(h.Shutdown(bounded), web.Shutdown(bounded), s.Shutdown(bounded))
	<-served
	return err
}

// newServer returns a server with all features.
func newServer() (*mcpserver.Server, error) {
	s := mcpserver.New(mcp.Implementation{Name: "mcpotel-conformance", Version: "1.0.0"}, &mcpserver.Options{
		Capabilities: mcp.ServerCapabilities{Extensions: skills.Capability()},
		Logging:      true, Cache: mcpserver.Cache{TTL: 5 * time.Minute},
		Tasks:     &mcpserver.TaskOptions{PollInterval: 100 * time.Millisecond},
		Telemetry: telemetry.Off(),
	})
	return s, errors.Join(addContent(s), addNotices(s), addSchemas(s), addAsks(s), addRounds(s), addResources(s),
		addPrompts(s), addTasks(s), addSkills(s))
}

// answer returns a result of these blocks.
func answer(blocks ...mcp.Content) *mcp.CallToolResult { return &mcp.CallToolResult{Content: blocks} }

// nothing is the type of the arguments of a tool without any.
type nothing struct{}

// add adds a tool that returns a complete result.
func add[In any](s *mcpserver.Server, name, description string,
	h func(context.Context, In) (*mcp.CallToolResult, error)) error {
	return mcpserver.AddTool(s, &mcp.Tool{Name: name, Description: description}, h)
}
