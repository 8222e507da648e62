package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/mcpotel/mcpotel/testenv/stack/load"
)

// tracesPerSecond is the rate of the measurements that do not run at the maximum rate.
const tracesPerSecond = 2000

// window measures gateways with increasing waits before they drop a trace that no policy keeps. It prints their memory
// once traces are dropped as fast as they begin.
func window(m *measuring) error {
	fmt.Fprintf(m.out, "\n| decision wait | undecided traces | memory at its peak, MiB | "+
		"more than for 1 s, bytes a trace |\n|--:|--:|--:|--:|\n")
	var first, firstTraces int64
	for _, wait := range []time.Duration{time.Second, 10 * time.Second, 30 * time.Second, 60 * time.Second} {
		peak, err := m.windowOf(wait)
		if err != nil {
			return err
		}
		const undecided = .89 // neither in the tenth that is kept nor failed
		traces := int64(tracesPerSecond * undecided * wait.Seconds())
		more := "–"
		if first == 0 {
			first, firstTraces = peak, traces
		} else {
			more = fmt.Sprint((peak - first) / (traces - firstTraces))
		}
		fmt.Fprintf(m.out, "| %v | %d | %d | %s |\n", wait, traces, peak>>20, more)
	}
	return nil
}

func (m *measuring) windowOf(wait time.Duration) (peak int64, err error) {
	g := m.gateway("gateway")
	s, _, end, err := m.alone(g, "MCPOTEL_SAMPLING_DECISION_WAIT="+wait.String(), "MCPOTEL_SAMPLING_TRACES=10000000",
		"MCPOTEL_GATEWAY_MEMORY_MIB=8192")
	if err != nil {
		return 0, err
	}
	sent, _, err := m.send(s, g, 0, wait+m.took, load.Options{Rate: tracesPerSecond})
	if err == nil {
		peak, err = memory(s.Gateway.Pid(), "VmHWM")
	}
	if err == nil && sent.Dropped > 0 {
		err = fmt.Errorf("%d of %d spans were refused", sent.Dropped, sent.Spans)
	}
	return peak, errors.Join(err, end())
}
