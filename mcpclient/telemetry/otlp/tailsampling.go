package otlp

import (
	"fmt"
	"strings"

	"github.com/mcpotel/mcpotel/mcpclient/telemetry/tailsampling"
)

// newTailSampling returns the tail sampling with the ratio from the sampler's variables, if they set one.
func newTailSampling(o tailsampling.Options, getenv func(string) string) (*tailsampling.Sampling, error) {
	env := func(key string) string { return strings.TrimSpace(getenv(key)) }
	switch name := samplerName(env); name {
	case "":
	case "always_on":
		o.Ratio = 1
	case "always_off":
		o.Ratio = 0
	case "traceidratio":
		ratio, err := readRatio(env)
		if err != nil {
			return nil, err
		}
		o.Ratio = ratio
	default:
		return nil, fmt.Errorf("OTEL_TRACES_SAMPLER: WithTailSampling does not support %q; use always_on, always_off or "+
			"traceidratio, with or without the prefix parentbased_", name)
	}
	return tailsampling.New(o)
}
