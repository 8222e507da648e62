package main

import (
	"context"
	"fmt"

	"github.com/mcpotel/mcpotel/internal/command/traceview"
	"github.com/mcpotel/mcpotel/internal/loopback"
	"github.com/mcpotel/mcpotel/internal/otlpsink"
	"github.com/mcpotel/mcpotel/testenv/stack"
)

// pageAddress is the address of "mcpotel view".
const pageAddress = "127.0.0.1:4320"

// page shows the telemetry that the agent receives.
type page struct {
	sink *otlpsink.Sink
	site *loopback.Site
}

// page opens the page and makes the agent send a copy to it, if that is enabled.
func (s *settings) page(o *stack.Options) (*page, error) {
	if !s.web {
		return nil, nil
	}
	sink, err := otlpsink.Listen("")
	if err != nil {
		return nil, err
	}
	address := pageAddress
	if s.free {
		address = ""
	}
	site, err := loopback.Serve(address, traceview.New(traceview.Options{Snapshot: sink.Snapshot}))
	if err != nil {
		sink.Close(context.Background())
		return nil, fmt.Errorf("--web: %w", err)
	}
	o.Copy = sink.Endpoint()
	return &page{sink, site}, nil
}

func (p *page) end(ctx context.Context) error {
	p.site.Close()
	p.sink.Close(ctx)
	return nil
}
