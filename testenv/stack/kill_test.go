package stack_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/internal/command/prom"
	"github.com/mcpotel/mcpotel/testenv/stack"
	"github.com/mcpotel/mcpotel/testenv/stack/load"
)

// TestKilledAgentLosesNoAcknowledgedData repeatedly kills an agent while services send all signals to it.
func TestKilledAgentLosesNoAcknowledgedData(t *testing.T) {
	ctx := limit(t, 2*time.Minute)
	s := own(t, ctx, stack.Options{Idle: []string{"gateway", "jaeger"}})
	r, err := load.Receive(fmt.Sprintf("127.0.0.1:%d", s.Ports.GatewayGRPC))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	l, err := load.Record(ctx)
	if err != nil {
		t.Fatal(err)
	}
	sending, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1) // receives the result of sending
	var sent *load.Sent
	go func() {
		var err error
		sent, _, err = l.Send(sending, 0, load.Options{Endpoint: s.OTLP(), Rate: 1000, Senders: 16, AllSignals: true,
			Patience: time.Minute})
		ended <- err
	}()
	for range 5 {
		before := r.Spans()
		until(t, ctx, "spans arrive", func() bool { return r.Spans() > before })
		s.Agent.Kill()
		if err := s.Agent.Start(ctx); err != nil {
			t.Fatal(err)
		}
	}
	stop()
	if err := <-ended; err != nil || sent.Dropped > 0 {
		t.Fatalf("%d of %d spans were not acknowledged within a minute: %v", sent.Dropped, sent.Spans, err)
	}
	await(t, ctx, s, `sum(otelcol_exporter_queue_size{tier="agent"})`, func(all []prom.Series) bool {
		return len(all) == 1 && all[0].Value() == 0
	})
	until(t, ctx, "all that was acknowledged arrives", func() bool { return r.Missing(sent) == 0 })
}
