package mcpserver

import (
	"math"
	"testing"

	"github.com/mcpotel/mcpotel/internal/server/rates"
)

func TestEffectiveRates(t *testing.T) {
	for _, test := range []struct {
		given Rates
		what  rates.Kind
		want  rates.Rate
	}{
		{Rates{}, rates.Completions, rates.Rate{PerSecond: 100, Burst: 1000}},
		{Rates{}, rates.Tasks, rates.Rate{PerSecond: 1000, Burst: 5000}},
		{Rates{}, rates.ToolCalls, rates.Rate{PerSecond: -1, Burst: 1}},
		{Rates{Completions: Rate{Burst: 3}}, rates.Completions, rates.Rate{PerSecond: 100, Burst: 3}},
		{Rates{Completions: Rate{PerSecond: 7.5}}, rates.Completions, rates.Rate{PerSecond: 7.5, Burst: 7}},
		{Rates{Completions: Rate{PerSecond: 0.1}}, rates.Completions, rates.Rate{PerSecond: 0.1, Burst: 1}},
		{Rates{Completions: Rate{PerSecond: -1}}, rates.Completions, rates.Rate{PerSecond: -1, Burst: 1}},
		{Rates{Progress: Rate{2, 4}, Logs: Rate{PerSecond: math.Inf(1)}}, rates.Progress, rates.Rate{PerSecond: 2, Burst: 4}},
	} {
		if all, err := test.given.limits(); err != nil || all[test.what] != test.want {
			t.Errorf("%+v: got %v, %v, want %v", test.given, all[test.what], err, test.want)
		}
	}
	for _, r := range []Rates{{Logs: Rate{PerSecond: math.NaN()}}, {Tasks: Rate{Burst: -1}}} {
		if _, err := r.limits(); err == nil {
			t.Errorf("%+v: got no error", r)
		}
	}
}
