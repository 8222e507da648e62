package load

import (
	"bytes"
	"encoding/binary"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"
)

// A template is an encoded request with placeholders for ids.
type template struct {
	text   []byte
	traces []place
	spans  int
	ids    []place // ids of spans and their parents
}

// A place is the position of an id.
type place struct {
	at    int // offset in the text
	trace int // number of the trace in the batch
	span  int // number of the span in the trace; 0 for a trace id
}

// In a template, an id consists of a mark and numbers, so that its position can be found in the encoded request.
var markTrace, markSpan = []byte("mcp-otel-load"), []byte("mcp-")

func placeOfTrace(trace int) []byte {
	return append(bytes.Clone(markTrace), 0, byte(trace>>8), byte(trace))
}

func placeOfSpan(trace, span int) []byte {
	return append(bytes.Clone(markSpan), 0xff, byte(trace>>8), byte(trace), byte(span))
}

func newTemplate(request *collector.ExportTraceServiceRequest) (template, error) {
	text, err := proto.Marshal(request)
	if err != nil {
		return template{}, err
	}
	t := template{text: text}
	for range spansOf(request.GetResourceSpans()) {
		t.spans++
	}
	number := func(at int) int { return int(text[at])<<8 | int(text[at+1]) }
	for at := range text {
		switch {
		case bytes.HasPrefix(text[at:], markTrace):
			t.traces = append(t.traces, place{at: at, trace: number(at + 14)})
		case bytes.HasPrefix(text[at:], markSpan) && text[at+4] == 0xff:
			t.ids = append(t.ids, place{at: at, trace: number(at + 5), span: int(text[at+7])})
		}
	}
	return t, nil
}

// fill returns the request of a batch.
func (t *template) fill(batch uint64) []byte {
	text := bytes.Clone(t.text)
	number := func(p place) uint64 { return batch*TracesOfBatch + uint64(p.trace) }
	for _, p := range t.traces {
		n := number(p)
		binary.BigEndian.PutUint64(text[p.at:], scatter(n))
		binary.BigEndian.PutUint64(text[p.at+8:], scatter(^n))
	}
	for _, p := range t.ids {
		binary.BigEndian.PutUint64(text[p.at:], firstSpan|number(p)*maxSpansOfTrace+uint64(p.span))
	}
	return text
}

// add adds the numbers of a batch's spans to a set.
func (t *template) add(batch uint64, to *set) {
	for _, p := range t.ids {
		to.add((batch*TracesOfBatch+uint64(p.trace))*maxSpansOfTrace + uint64(p.span))
	}
}

// firstSpan is set in the ids of all spans, because no id may be zero.
const firstSpan = 1 << 63

// spanNumber returns the number of the span with this id. It reports false if the span is not from a load.
func spanNumber(id []byte) (uint64, bool) {
	if len(id) != 8 {
		return 0, false
	}
	n := binary.BigEndian.Uint64(id)
	return n &^ firstSpan, n&firstSpan != 0 && n&^firstSpan < 1<<40
}

// scatter mixes the bits of a number, because samplers assume random ids (SplitMix64).
func scatter(n uint64) uint64 {
	n += 0x9e3779b97f4a7c15
	n = (n ^ n>>30) * 0xbf58476d1ce4e5b9
	n = (n ^ n>>27) * 0x94d049bb133111eb
	return n ^ n>>31
}
