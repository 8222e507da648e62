package stack_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/internal/instrument/schema"
	"github.com/mcpotel/mcpotel/testenv/stack/traffic"
)

// TestEachScenarioChangesItsMetrics plays every scenario twice, the second time with all connections open, and queries
// Prometheus for the metrics that each scenario moves. Some metrics are above zero only for a moment, and a busy
// machine may scrape before and after this moment: then the scenarios are played again.
func TestEachScenarioChangesItsMetrics(t *testing.T) {
	ctx := limit(t, 5*time.Minute)
	f, err := traffic.Start(ctx,
		traffic.Options{OTLP: up.OTLP(), OTLPHTTP: up.OTLPHTTP(), Interval: 200 * time.Millisecond, Log: t.Output()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := f.Stop(ctx); err != nil {
			t.Errorf("stop: %v", err)
		}
	}()
	if err := f.Run(ctx, 2); err != nil {
		t.Fatal(err)
	}
	missing := map[string]string{}
	for _, metric := range idle {
		missing["count(count_over_time("+metric+"[15m]))"] = "all" // as for the others, one scrape suffices
	}
	for _, s := range traffic.Scenarios {
		for _, selector := range s.Moves {
			missing["max(max_over_time("+selector+"[15m]))"] = s.Name
		}
	}
	seen := func() bool {
		for expression := range missing {
			all, err := up.Metrics.Query(ctx, expression)
			if err != nil {
				t.Fatal(err)
			}
			if len(all) == 1 && all[0].Value() > 0 {
				delete(missing, expression)
			}
		}
		return len(missing) == 0
	}
	for again := 0; !within(limit(t, 30*time.Second), seen) && again < 2; again++ {
		if err := f.Run(ctx, 1); err != nil {
			t.Fatal(err)
		}
	}
	if !seen() {
		for expression, scenario := range missing {
			t.Errorf("%s: want more than zero for %s", scenario, expression)
		}
	}
}

// idle are metrics that may be zero at every scrape: the lengths of queues.
var idle = []string{"mcp_client_send_queue_length", "mcp_server_send_queue_length"}

// TestScenariosChangeEveryMetric compares the list of scenarios with the schema.
func TestScenariosChangeEveryMetric(t *testing.T) {
	moved := map[string]bool{}
	for _, metric := range idle {
		moved[metric] = true
	}
	for _, s := range traffic.Scenarios {
		if s.Makes == "" || len(s.Moves) == 0 {
			t.Errorf("%s: want what it makes and what it moves, got neither", s.Name)
		}
		for _, selector := range s.Moves {
			name, _, _ := strings.Cut(selector, "{")
			moved[name] = true
		}
	}
	for _, m := range schema.Current.Metrics {
		base := strings.ReplaceAll(m.Name, ".", "_")
		suffixes := []string{"", "_total", "_count", "_seconds", "_seconds_total", "_seconds_count", "_bytes", "_bytes_count"}
		if !slices.ContainsFunc(suffixes, func(suffix string) bool { return moved[base+suffix] }) {
			t.Errorf("want a scenario that moves %s, got none", m.Name)
		}
	}
}
