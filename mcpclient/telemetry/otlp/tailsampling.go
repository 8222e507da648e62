package otlp

import (
	"fmt"
	"strings"

	"github.com/mcpotel/mcpotel/mcpclient/telemetry/tailsampling"
)

// newTailSampling takes the ratio from the variables of the sampler, if they say one.
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
		return nil, fmt.Errorf("OTEL_TRACES_SAMPLER: %q is no ratio, and with WithTailSampling it has to be one: always_on, "+
			"always_off and traceidratio are, each also with parentbased_ before it", name)
	}
	return tailsampling.New(o)
}
