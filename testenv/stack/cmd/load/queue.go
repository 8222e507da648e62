package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/mcpotel/mcpotel/testenv/stack"
	"github.com/mcpotel/mcpotel/testenv/stack/load"
)

// queueBytes is the size of the queue to fill.
const queueBytes = 32 << 20

// queue stops the gateway for increasing times, and prints how many of the spans sent during this time are lost. A
// service drops spans that the agent has refused for a second.
func queue(m *measuring) error {
	fmt.Fprintf(m.out, "\n| gateway away for | spans meanwhile | arrived | lost | lost, computed |\n"+
		"|--:|--:|--:|--:|--:|\n")
	for _, outage := range []time.Duration{5, 10, 15, 20, 40} {
		if err := m.away(outage * time.Second); err != nil {
			return err
		}
	}
	return nil
}

func (m *measuring) away(outage time.Duration) error {
	a := m.agent("agent")
	gateway := a.receivers
	a.receivers = nil
	s, _, end, err := m.alone(a, fmt.Sprintf("MCPOTEL_AGENT_QUEUE_BYTES=%d", queueBytes))
	if err != nil {
		return err
	}
	sent, _, err := m.send(s, a, 0, outage, load.Options{Rate: tracesPerSecond, Senders: 64, Patience: time.Second})
	if err != nil {
		return errors.Join(err, end())
	}
	r, err := load.Receive(fmt.Sprintf("127.0.0.1:%d", gateway(s.Ports)[0]))
	if err != nil {
		return errors.Join(err, end())
	}
	defer r.Close()
	if err := m.drained(s); err != nil {
		return errors.Join(err, end())
	}
	if err := end(); err != nil {
		return err
	}
	if missing := r.Missing(sent); missing > 0 {
		return fmt.Errorf("%d spans are lost although the agent has acknowledged them", missing)
	}
	room := queueBytes / m.load.BytesOfSpan()
	lost := max(0, 1-room/float64(sent.Spans))
	fmt.Fprintf(m.out, "| %v | %d | %d | %.1f %% | %.1f %% |\n", outage, sent.Spans, r.Spans(),
		100*(1-float64(r.Spans())/float64(sent.Spans)), 100*lost)
	return nil
}

// drained waits until an agent's queue is empty.
func (m *measuring) drained(s *stack.Stack) error {
	for {
		size, err := counted(m.ctx, s.Ports.AgentMetrics, "otelcol_exporter_queue_size")
		if err != nil || size == 0 {
			return err
		}
		if err := load.Wait(m.ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
}
