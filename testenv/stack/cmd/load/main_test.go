package main

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"time"
)

// TestEveryMeasurementPrintsItsTable runs the measurements that can be short. Their figures mean nothing.
func TestEveryMeasurementPrintsItsTable(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var out bytes.Buffer
	if err := run(ctx, []string{"-for", "400ms", "-kills", "1", "capacity", "kill"}, &out, io.Discard); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	for _, row := range []string{"| agent |", "| agent, load_balancing to two |", "| agent, to Kafka |", "| gateway |",
		"| gateway, with service_graph |", "| gateway, from Kafka |", "| 1 | 0 |"} {
		if !strings.Contains(out.String(), row) {
			t.Errorf("want a row %s, got\n%s", row, &out)
		}
	}
}

func TestUnknownMeasurementIsAnError(t *testing.T) {
	err := run(t.Context(), []string{"capacty"}, io.Discard, io.Discard)
	if err == nil || !strings.Contains(err.Error(), `unknown measurement "capacty"`) {
		t.Errorf("want an error that names it, got %v", err)
	}
}
