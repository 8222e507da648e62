package tailsampling

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"

	"go.opentelemetry.io/otel/trace"
)

// What tracestate says of sampling, as OpenTelemetry's specification has it: a threshold below which a trace is not
// sampled (th), and randomness (rv) if it is not that of the trace's id.
const (
	vendor    = "ot"
	maxVendor = 256 // bytes of its entry

	always  = "0" // the threshold of what is exported in any case
	unknown = ""  // of what others stand for
)

// randomBits is how many bits of a trace's id are random, by W3C Trace Context Level 2.
const randomBits = 56

func randomness(id trace.TraceID) uint64 {
	return binary.BigEndian.Uint64(id[8:]) & (1<<randomBits - 1)
}

// thresholdOf returns the threshold of a ratio, and how tracestate has it: in hexadecimal digits, without zeros at the
// end. That of nothing is above all, and is never written.
func thresholdOf(ratio float64) (uint64, string) {
	t := uint64(math.Round((1 - ratio) * (1 << randomBits)))
	return t, cmp.Or(strings.TrimRight(fmt.Sprintf("%014x", t), "0"), always)
}

// withThreshold sets the threshold in a tracestate, or removes it. Whatever else is there stays, if there is room.
func withThreshold(state trace.TraceState, threshold string) trace.TraceState {
	before := state.Get(vendor)
	var known, others []string
	if threshold != unknown {
		known = append(known, "th:"+threshold)
	}
	for part := range strings.SplitSeq(before, ";") {
		switch key, _, _ := strings.Cut(part, ":"); key {
		case "", "th":
		case "rv":
			known = append(known, part)
		default:
			others = append(others, part)
		}
	}
	after := strings.Join(append(known, others...), ";")
	if len(after) > maxVendor {
		after = strings.Join(known, ";")
	}
	switch {
	case after == before:
		return state
	case after == "":
		return state.Delete(vendor)
	}
	changed, err := state.Insert(vendor, after)
	if err != nil { // what a peer wrote there is no value
		return state.Delete(vendor)
	}
	return changed
}

// arriving is the tracestate of a parent in another process, without a threshold that is wrong: of a trace that is not
// sampled, or would not be by it.
func arriving(parent trace.SpanContext) trace.TraceState {
	state := parent.TraceState()
	random, threshold := randomness(parent.TraceID()), uint64(0)
	for part := range strings.SplitSeq(state.Get(vendor), ";") {
		key, digits, _ := strings.Cut(part, ":")
		n, err := strconv.ParseUint(digits, 16, 64)
		switch {
		case key == "rv" && err == nil && len(digits) == randomBits/4:
			random = n
		case key == "th" && (err != nil || len(digits) > randomBits/4):
			return withThreshold(state, unknown)
		case key == "th":
			threshold = n << (randomBits - 4*len(digits))
		}
	}
	if !parent.IsSampled() || random < threshold {
		return withThreshold(state, unknown)
	}
	return state
}
