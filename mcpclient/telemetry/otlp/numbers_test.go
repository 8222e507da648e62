package otlp

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestSetupRejectsNumbersOutOfRange(t *testing.T) {
	for _, n := range numbers {
		wrong := []string{"many", "1.5", "1e3", " 7", "7 ", "0x10", "99999999999999999999", strconv.Itoa(n.max + 1)}
		if n.min > math.MinInt32 {
			wrong = append(wrong, strconv.Itoa(n.min-1), "-2")
		}
		for _, value := range wrong {
			cleanEnv(t)
			t.Setenv(n.key, value)
			_, err := Setup(t.Context(), WithGlobals(false))
			want := fmt.Sprintf("%s: %q is not %s between %d and %d", n.key, value, n.meaning, n.min, n.max)
			if err == nil || strings.Count(err.Error(), want) != 1 {
				t.Errorf("%s=%q: Setup returns error %v, want %q once", n.key, value, err, want)
			}
		}
	}
}

func TestSetupAcceptsNumbersInRange(t *testing.T) {
	for _, n := range numbers {
		for _, value := range []int{n.min, max(n.min, 1), n.max} {
			if _, err := read(map[string]string{n.key: strconv.Itoa(value)}, false); err != nil {
				t.Errorf("%s=%d: %v", n.key, value, err)
			}
		}
	}
}

// The SDK reads the variables of a signal only if the signal is exported.
func TestNumericVariablesOfDisabledSignalsAreIgnored(t *testing.T) {
	for _, n := range numbers {
		env := map[string]string{n.key: "x"}
		for _, sig := range []signal{traces, metrics, logs} {
			if slices.Contains(n.signals, sig) {
				env["OTEL_"+sig.key()+"_EXPORTER"] = "none"
			}
		}
		if _, err := read(env, false); err != nil {
			t.Errorf("%v: %v", env, err)
		}
	}
}

func TestSmallestNumericSettingsWork(t *testing.T) {
	for _, n := range numbers {
		t.Run(n.key, func(t *testing.T) {
			cleanEnv(t)
			t.Setenv(n.key, strconv.Itoa(max(n.min, -1)))
			sink := listen(t)
			p := setup(t, WithEndpoint(sink.Endpoint()))
			record(t, p)
			shutdown(t, p)
		})
	}
}

func TestSamplerArgumentMustBeRatio(t *testing.T) {
	for _, sampler := range []string{"traceidratio", "parentbased_traceidratio"} {
		for _, arg := range []string{"-1", "1.5", "half", "NaN"} {
			for _, direct := range []bool{false, true} {
				_, err := read(map[string]string{"OTEL_TRACES_SAMPLER": sampler, "OTEL_TRACES_SAMPLER_ARG": arg}, direct)
				want := fmt.Sprintf("OTEL_TRACES_SAMPLER_ARG: %q is not a ratio between 0 and 1", arg)
				if err == nil || err.Error() != want {
					t.Errorf("%s with %s: error %v, want %s", sampler, arg, err, want)
				}
			}
		}
	}
	env := map[string]string{"OTEL_TRACES_SAMPLER": "always_on", "OTEL_TRACES_SAMPLER_ARG": "x"}
	if _, err := read(env, false); err != nil {
		t.Errorf("an argument for a sampler without one: error %v, want none", err)
	}
}
