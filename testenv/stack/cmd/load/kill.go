package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/testenv/stack/load"
)

// kill repeatedly kills and restarts an agent under traffic, and prints how many of the acknowledged spans have not
// arrived.
func kill(m *measuring) error {
	a := m.agent("agent")
	a.options.CollectorEnv = []string{"MCPOTEL_AGENT_BATCH_TIMEOUT=100ms"} // so that data is always in flight
	s, receivers, end, err := m.alone(a)
	if err != nil {
		return err
	}
	const least, more = 200 * time.Millisecond, time.Second // bounds of the time between a start and the next kill
	var sent *load.Sent
	var unsent error
	var sending sync.WaitGroup
	sending.Go(func() {
		sent, _, unsent = m.send(s, a, 0, time.Duration(m.kills)*(least+more),
			load.Options{Rate: tracesPerSecond, Senders: 16, AllSignals: true})
	})
	failures := 0
	for range m.kills {
		if err = load.Wait(m.ctx, least+rand.N(more)); err != nil {
			break
		}
		s.Agent.Kill()
		for err = s.Agent.Start(m.ctx); err != nil && m.ctx.Err() == nil; err = s.Agent.Start(m.ctx) {
			failures++ // try again, as a supervisor would
			fmt.Fprintln(m.out, err)
		}
	}
	sending.Wait()
	err = errors.Join(err, unsent)
	if err == nil {
		err = m.drained(s)
	}
	if err := errors.Join(err, end()); err != nil {
		return err
	}
	fmt.Fprintf(m.out, "\n| kills | starts that failed | spans acknowledged | of them lost | spans that came twice |\n"+
		"|--:|--:|--:|--:|--:|\n| %d | %d | %d | %d | %d |\n", m.kills, failures, sent.Spans-sent.Dropped,
		receivers[0].Missing(sent), receivers[0].Spans()-(sent.Spans-sent.Dropped-receivers[0].Missing(sent)))
	return nil
}
