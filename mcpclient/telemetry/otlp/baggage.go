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

// WithBaggageAttributes copies the members of the baggage with these keys to all spans and log records of the process,
// as attributes: those of telemetry.ConversationKeys, say, by which one search finds all calls of a conversation. A
// span has the members of the context in which it starts, a log record those of the context it is logged with. Samplers
// do not see them. A server has them from its clients, if these send them there (telemetry.WithBaggageKeys) and it
// trusts them.
//
// No other members are copied, for baggage comes from peers and may hold anything; nor are values of more than 256
// bytes. Keys have to be named, so "*" is an error of Setup, as is an empty one. By default nothing is copied.
func WithBaggageAttributes(keys ...string) Option {
	return func(c *config) { c.baggage = append(c.baggage[:len(c.baggage):len(c.baggage)], keys...) }
}

// BaggageProcessors returns the processors that opts ask for by [WithBaggageAttributes], nil if they do not. Setup puts
// them into the SDK that it makes. It is for those who give it another one with [WithSDK]: that needs them, that of log
// records before those that export.
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

// copies reports whether a member of the baggage becomes an attribute.
func (c *config) copies(m baggage.Member) bool {
	return slices.Contains(c.baggage, m.Key()) && len(m.Value()) <= words.MaxMember
}

// checkBaggage reports a key that names no member.
func (c *config) checkBaggage() error {
	for _, key := range c.baggage {
		if key == "" || key == "*" {
			return fmt.Errorf("WithBaggageAttributes: %q is no key; name each that is to be copied", key)
		}
	}
	return nil
}
