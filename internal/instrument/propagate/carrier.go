package propagate

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"sync"

	"go.opentelemetry.io/otel/propagation"

	"github.com/mcpotel/mcpotel/internal/jsonscan"
)

// The keys of _meta that the specification reserves for the trace context, in the formats of the W3C. (specification
// 2026-07-28, basic/index, _meta)
const (
	keyTraceparent = "traceparent"
	keyTracestate  = "tracestate"
	keyBaggage     = "baggage"
)

var w3cKeys = []string{keyTraceparent, keyTracestate, keyBaggage}

// Limits for received texts, in bytes: the W3C's limit for tracestate, OpenTelemetry's for baggage.
const (
	maxTracestate = 512
	maxBaggage    = 8192
)

// Limits for the keys of other propagators, in written and received messages.
const (
	maxPropagated      = 64
	maxPropagatedBytes = 8192 // total size of keys and values
)

// carrier is the propagation.TextMapCarrier for the _meta of a message. It has fields for the three keys of the W3C. A
// map holds the keys of other propagators. The map is created when another propagator reads or writes.
type carrier struct {
	traceparent, tracestate, baggage string

	others map[string]string
	bytes  int    // size of others in bytes
	meta   []byte // raw _meta from which others is read; nil after that
}

var carriers = sync.Pool{New: func() any { return new(carrier) }}

func (c *carrier) release() {
	*c = carrier{}
	carriers.Put(c)
}

func (c *carrier) field(key string) *string {
	switch key {
	case keyTraceparent:
		return &c.traceparent
	case keyTracestate:
		return &c.tracestate
	case keyBaggage:
		return &c.baggage
	}
	return nil
}

// Get returns the value of a key. It ignores the case of keys that are not the W3C's, because programs disagree about
// the case of keys that are also HTTP headers, such as X-Amzn-Trace-Id.
func (c *carrier) Get(key string) string {
	if f := c.field(key); f != nil {
		return *f
	}
	c.readOthers()
	if value, ok := c.others[key]; ok || len(c.others) == 0 {
		return value
	}
	for _, other := range slices.Sorted(maps.Keys(c.others)) {
		if strings.EqualFold(other, key) {
			return c.others[other]
		}
	}
	return ""
}

// Set sets a value if a propagator may write the key and the limits allow it.
func (c *carrier) Set(key, value string) {
	if f := c.field(key); f != nil {
		*f = value
		return
	}
	if !propagated(key) {
		return
	}
	was, again := c.others[key]
	size := c.bytes + len(value) - len(was)
	if !again {
		size += len(key)
	}
	if size > maxPropagatedBytes || !again && len(c.others) == maxPropagated {
		return
	}
	if c.others == nil {
		c.others = make(map[string]string)
	}
	c.others[key], c.bytes = value, size
}

func (c *carrier) Keys() []string {
	c.readOthers()
	return slices.AppendSeq(slices.Clone(w3cKeys), maps.Keys(c.others))
}

var _ propagation.TextMapCarrier = (*carrier)(nil)

// readOthers copies the strings of the raw _meta in their order, up to the limits.
func (c *carrier) readOthers() {
	meta := c.meta
	if c.meta = nil; meta == nil {
		return
	}
	o := jsonscan.ObjectAt(meta, 0)
	for o.Next() {
		key := string(o.Key())
		raw := o.Raw()
		if len(raw) < 2 || raw[0] != '"' || len(raw)-2 > maxPropagatedBytes || !propagated(key) || c.field(key) != nil {
			continue
		}
		c.Set(key, string(jsonscan.Unquote(bytes.Clone(raw[1:len(raw)-1]))))
	}
}

// propagated reports whether a key of _meta may belong to a propagator: a valid name without a prefix, by the rules of
// [mcp.CheckMetaName]. Names with a prefix belong to the protocol, to extensions and to applications. progressToken
// belongs to the protocol.
func propagated(key string) bool {
	if key == "" || key == "progressToken" || !alphanumeric(key[0]) || !alphanumeric(key[len(key)-1]) {
		return false
	}
	for i := range len(key) {
		if c := key[i]; !alphanumeric(c) && c != '-' && c != '_' && c != '.' {
			return false
		}
	}
	return true
}

func alphanumeric(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' }
