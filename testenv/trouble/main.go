package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"time"

	"github.com/mcpotel/mcpotel/inspect/debugpage"
	"github.com/mcpotel/mcpotel/internal/loopback"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "trouble:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	starting, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	p, err := start(starting)
	if err != nil {
		return err
	}
	defer p.stop()
	var clients []debugpage.Client
	for _, c := range p.clients { // includes the clients that have given up
		clients = append(clients, c)
	}
	l, err := loopback.Listen("")
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("/debug/mcp/", debugpage.Handler(
		debugpage.WithClients(clients...), debugpage.LocalOnly(),
		debugpage.WithTraceURL("http://localhost:16686/trace/{trace_id}")))
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	context.AfterFunc(ctx, func() { server.Close() })
	fmt.Printf("The debug page is at http://%v/debug/mcp/\n", l.Addr())
	if err := server.Serve(l); ctx.Err() == nil {
		return err
	}
	return nil
}
