package otlp

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A number is a variable that the SDK reads as an integer. The SDK ignores some invalid values. Other invalid values
// end the program, because the SDK allocates a queue of any size.
type number struct {
	key      string
	signals  []signal // the SDK reads the variable if one of these signals is exported
	min, max int
	meaning  string // description of the value, for the error
}

const (
	milliseconds = "a number of milliseconds"
	items        = "a number"
	orNoLimit    = "a number, or -1 for no limit"
)

// maxItems bounds the sizes of queues, which the SDK allocates at once; maxMilliseconds bounds durations.
const (
	maxItems        = 10_000_000
	maxMilliseconds = math.MaxInt32
)

// numbers lists the variables that the SDK and its exporters read as integers, except those of the exporter otlp.
var numbers = []number{
	{"OTEL_BSP_SCHEDULE_DELAY", []signal{traces}, 1, maxMilliseconds, milliseconds},
	{"OTEL_BSP_EXPORT_TIMEOUT", []signal{traces}, 0, maxMilliseconds, milliseconds},
	{"OTEL_BSP_MAX_QUEUE_SIZE", []signal{traces}, 1, maxItems, items},
	{"OTEL_BSP_MAX_EXPORT_BATCH_SIZE", []signal{traces}, 1, maxItems, items},
	{"OTEL_BLRP_SCHEDULE_DELAY", []signal{logs}, 1, maxMilliseconds, milliseconds},
	{"OTEL_BLRP_EXPORT_TIMEOUT", []signal{logs}, 0, maxMilliseconds, milliseconds},
	{"OTEL_BLRP_MAX_QUEUE_SIZE", []signal{logs}, 1, maxItems, items},
	{"OTEL_BLRP_MAX_EXPORT_BATCH_SIZE", []signal{logs}, 1, maxItems, items},
	{"OTEL_METRIC_EXPORT_INTERVAL", []signal{metrics}, 1, maxMilliseconds, milliseconds},
	{"OTEL_METRIC_EXPORT_TIMEOUT", []signal{metrics}, 1, maxMilliseconds, milliseconds},
	{"OTEL_GO_X_CARDINALITY_LIMIT", []signal{metrics}, math.MinInt32, math.MaxInt32, "a number, or 0 for no limit"},
	{"OTEL_ATTRIBUTE_COUNT_LIMIT", []signal{traces}, -1, math.MaxInt32, orNoLimit},
	{"OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT", []signal{traces}, -1, math.MaxInt32, orNoLimit},
	{"OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT", []signal{traces}, -1, math.MaxInt32, orNoLimit},
	{"OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT", []signal{traces}, -1, math.MaxInt32, orNoLimit},
	{"OTEL_SPAN_EVENT_COUNT_LIMIT", []signal{traces}, -1, math.MaxInt32, orNoLimit},
	{"OTEL_SPAN_LINK_COUNT_LIMIT", []signal{traces}, -1, math.MaxInt32, orNoLimit},
	{"OTEL_EVENT_ATTRIBUTE_COUNT_LIMIT", []signal{traces}, -1, math.MaxInt32, orNoLimit},
	{"OTEL_LINK_ATTRIBUTE_COUNT_LIMIT", []signal{traces}, -1, math.MaxInt32, orNoLimit},
	{"OTEL_LOGRECORD_ATTRIBUTE_COUNT_LIMIT", []signal{logs}, -1, math.MaxInt32, orNoLimit},
	{"OTEL_LOGRECORD_ATTRIBUTE_VALUE_LENGTH_LIMIT", []signal{logs}, -1, math.MaxInt32, orNoLimit},
}

// check reports an invalid value. Spaces around a number are invalid: the SDK would ignore the variable.
func (n number) check(value string) error {
	if value == "" {
		return nil
	}
	v, err := strconv.Atoi(value)
	if err == nil && n.min <= v && v <= n.max {
		return nil
	}
	return fmt.Errorf("%s: %q is not %s between %d and %d", n.key, value, n.meaning, n.min, n.max)
}

// readRatio returns the ratio in the variable of the sampler's argument, or 1 if it is empty.
func readRatio(env func(string) string) (float64, error) {
	const argument = "OTEL_TRACES_SAMPLER_ARG"
	arg := env(argument)
	if arg == "" {
		return 1, nil
	}
	ratio, err := strconv.ParseFloat(arg, 64)
	if err != nil || !(ratio >= 0 && ratio <= 1) {
		return 0, fmt.Errorf("%s: %q is not a ratio between 0 and 1", argument, arg)
	}
	return ratio, nil
}

// samplerName returns the sampler of the variable, in lower case and without the prefix parentbased_.
func samplerName(env func(string) string) string {
	return strings.TrimPrefix(strings.ToLower(env("OTEL_TRACES_SAMPLER")), "parentbased_")
}

// checkNumbers reports invalid numbers in the variables of the exported signals.
func (s *settings) checkNumbers(getenv func(string) string) (wrong problems) {
	for _, n := range numbers {
		for _, sig := range n.signals {
			if len(s.exporters[sig]) > 0 {
				wrong.add(n.check(getenv(n.key)))
			}
		}
	}
	env := func(key string) string { return strings.TrimSpace(getenv(key)) }
	if len(s.exporters[traces]) > 0 && samplerName(env) == "traceidratio" {
		_, err := readRatio(env)
		wrong.add(err)
	}
	return wrong
}
