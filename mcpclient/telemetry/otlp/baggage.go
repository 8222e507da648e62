package otlp

import (
	"fmt"
	"slices"

	"go.opentelemetry.io/contrib/processors/baggagecopy"
	"go.opentelemetry.io/otel/baggage"
	sdklog "go.opentelemetry.io/otel/sdk/log"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/mcpotel/mcpotel/internal/instrument/words"
)

// WithBaggageAttributes copies the baggage members with these keys to all spans and log records of the process, as
// attributes. With telemetry.ConversationKeys, for example, one search finds all calls of a conversation. A span gets
// the members from the context in which it starts; a log record gets the members from its own context. Samplers do not
// see these attributes. A server gets the members from its clients, if the clients send them
// (telemetry.WithBaggageKeys) and the server trusts the clients.
//
// No other members are copied, because baggage comes from peers and may hold anything. Members with values longer than
// 256 bytes are not copied either. Keys must be named: Setup rejects "*" and empty keys. By default nothing is copied.
func WithBaggageAttributes(keys ...string) Option {
	return func(c *config) { c.baggage = append(c.baggage[:len(c.baggage):len(c.baggage)], keys...) }
}

// BaggageProcessors returns the processors for [WithBaggageAttributes], or nil without that option. Setup adds them
// to its own SDK. A program that passes another SDK to [WithSDK] must add them to that SDK, the log processor before
// the exporting processors.
func BaggageProcessors(opts ...Option) (sdktrace.SpanProcessor, sdklog.Processor) {
	var c config
	for _, o := range opts {
		o(&c)
	}
	return c.copiers()
}

func (c *config) copiers() (sdktrace.SpanProcessor, sdklog.Processor) {
	if len(c.baggage) == 0 {
		return nil, nil
	}
	return baggagecopy.NewSpanProcessor(c.copies), baggagecopy.NewLogProcessor(c.copies)
}

// copies reports whether a baggage member becomes an attribute.
func (c *config) copies(m baggage.Member) bool {
	return slices.Contains(c.baggage, m.Key()) && len(m.Value()) <= words.MaxMember
}

// checkBaggage reports invalid keys of [WithBaggageAttributes].
func (c *config) checkBaggage() error {
	for _, key := range c.baggage {
		if key == "" || key == "*" {
			return fmt.Errorf("WithBaggageAttributes: %q is not a key; name each key to copy", key)
		}
	}
	return nil
}
