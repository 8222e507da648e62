//go:build unix

package transport_test

import (
	"context"
	"testing"

	"github.com/mcpotel/mcpotel/internal/client/seam"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpclient/transport/transporttest"
)

func TestStdioPassesTransportTests(t *testing.T) {
	transporttest.TestTransport(t, func(t *testing.T) transporttest.Subject {
		h := newHarness(t)
		return transporttest.Subject{Transport: h.stdio(), Accept: h.acceptPeer, Notices: true}
	})
}

// TestStdioReceiveIsInterruptible checks that Stdio supports interruptions, because the contract tests skip them
// otherwise.
func TestStdioReceiveIsInterruptible(t *testing.T) {
	h := newHarness(t)
	conn, err := h.stdio().Dial(t.Context(), transport.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if c, ok := conn.(seam.Interruptible); !ok || c.Interrupter() == nil {
		t.Error("want a connection whose Receive can be interrupted")
	}
}
