package otlp

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/mcpotel/mcpotel/mcpclient/telemetry/tailsampling"
)

// newTailSampling takes the ratio from the variables of the sampler, if they say one.
func newTailSampling(o tailsampling.Options, getenv func(string) string) (*tailsampling.Sampling, error) {
	const sampler, argument = "OTEL_TRACES_SAMPLER", "OTEL_TRACES_SAMPLER_ARG"
	name := strings.ToLower(strings.TrimSpace(getenv(sampler)))
	switch strings.TrimPrefix(name, "parentbased_") {
	case "":
	case "always_on":
		o.Ratio = 1
	case "always_off":
		o.Ratio = 0
	case "traceidratio":
		o.Ratio = 1 // as the SDK has it without an argument
		if arg := strings.TrimSpace(getenv(argument)); arg != "" {
			ratio, err := strconv.ParseFloat(arg, 64)
			if err != nil || !(ratio >= 0 && ratio <= 1) {
				return nil, fmt.Errorf("%s: %q is not a ratio between 0 and 1", argument, arg)
			}
			o.Ratio = ratio
		}
	default:
		return nil, fmt.Errorf("%s: %q is no ratio, and with WithTailSampling it has to be one: always_on, always_off and "+
			"traceidratio are, each also with parentbased_ before it", sampler, name)
	}
	return tailsampling.New(o)
}
