package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// clearing is the argument for the first moment of a tool's probe; any other argument is the directory for the second.
const clearing = "clear"

type input struct {
	Text  string `json:"text"`
	Probe string `json:"probe,omitempty"`
}

func toolName(round int) string { return "echo" + strconv.Itoa(round) }

// newServer returns a server with a tool for each round. A probe measures from the handler of one call to the handler
// of the next call.
func newServer(p probe) (*mcpserver.Server, error) {
	s := mcpserver.New(mcp.Implementation{Name: "traveller", Version: "1"}, nil)
	echo := func(_ context.Context, in input) (string, error) {
		switch in.Probe {
		case "":
			return in.Text, nil
		case clearing:
			return in.Text, p.clear()
		}
		return in.Text, p.write(in.Probe)
	}
	for round := range rounds {
		if err := mcpserver.AddTool(s, &mcp.Tool{Name: toolName(round)}, echo); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// serve serves on standard input and output, or over HTTP and prints its URL, until standard input ends.
func serve(ctx context.Context, over string, p probe) error {
	s, err := newServer(p)
	if err != nil {
		return err
	}
	if over == "stdio" {
		return s.ServeStdio(ctx)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	web := &http.Server{Handler: s.HTTPHandler(nil), ReadHeaderTimeout: 10 * time.Second}
	failed := make(chan error, 1)
	go func() { failed <- web.Serve(l) }() // until Close
	fmt.Printf("http://%s/\n", l.Addr())
	io.Copy(io.Discard, os.Stdin)
	web.Close()
	<-failed
	return nil
}
