package transport_test

import (
	"testing"

	"github.com/mcpotel/mcpotel/mcpclient/transport/transporttest"
)

func TestInMemoryPassesTransportTests(t *testing.T) {
	transporttest.TestTransport(t, func(*testing.T) transporttest.Subject {
		h := newMemoryHarness()
		return transporttest.Subject{Transport: h.transport(), Accept: h.accept, Notices: true}
	})
}
