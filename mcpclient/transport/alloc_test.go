//go:build unix

package transport_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// Each received frame is one allocation. The allocations of the other end of the connection are not counted.
func TestRoundTripAllocatesLittleMoreThanTheFrame(t *testing.T) {
	conn, err := transport.Stdio{Command: "cat"}.Dial(t.Context(), transport.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	ctx, m := context.Background(), transport.Message{Data: bytes.Repeat([]byte("f"), 200)}
	allocs := testing.AllocsPerRun(1000, func() {
		if err := conn.Send(ctx, m); err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Receive(ctx); err != nil {
			t.Fatal(err)
		}
	})
	if allocs > 2 {
		t.Errorf("round trip: want at most 2 allocations, got %v", allocs)
	}
}
