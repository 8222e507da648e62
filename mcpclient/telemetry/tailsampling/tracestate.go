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

// Fields of tracestate for sampling, defined by OpenTelemetry: the threshold (th), and the randomness (rv) if it is not
// taken from the trace id. A trace is sampled if its randomness is at least the threshold.
const (
	vendor    = "ot"
	maxVendor = 256 // maximum size of the entry, in bytes

	always  = "0" // the threshold of spans that are always exported
	unknown = ""  // no threshold, for spans that other spans represent
)

// randomBits is the number of random bits in a trace id, as defined by W3C Trace Context Level 2.
const randomBits = 56

func randomness(id trace.TraceID) uint64 {
	return binary.BigEndian.Uint64(id[8:]) & (1<<randomBits - 1)
}

// thresholdOf returns the threshold of a ratio, and its form in tracestate: hexadecimal digits without trailing
// zeros. For the ratio zero, the threshold is above all randomness and is never written.
func thresholdOf(ratio float64) (uint64, string) {
	t := uint64(math.Round((1 - ratio) * (1 << randomBits)))
	return t, cmp.Or(strings.TrimRight(fmt.Sprintf("%014x", t), "0"), always)
}

// withThreshold sets or removes the threshold in a tracestate. Other entries stay, if there is room.
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
	if err != nil { // a peer wrote an invalid value
		return state.Delete(vendor)
	}
	return changed
}

// arriving returns the tracestate of a remote parent. It removes an inconsistent threshold: one of an unsampled
// trace, or one above the randomness of a sampled trace.
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
