package transport_test

import (
	"testing"

	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpclient/transport/chaos"
	"github.com/mcpotel/mcpotel/mcpclient/transport/transporttest"
)

func TestInMemoryWithEmptyFaultPlanPassesTransportTests(t *testing.T) {
	transporttest.TestTransport(t, func(t *testing.T) transporttest.Subject {
		h := newMemoryHarness()
		return unbroken(t, transporttest.Subject{Transport: h.transport(), Accept: h.accept, Notices: true})
	})
}

func TestHTTPWithEmptyFaultPlanPassesTransportTests(t *testing.T) {
	transporttest.TestTransport(t, func(t *testing.T) transporttest.Subject {
		s := &httpSubject{t: t, form: httpForm{mode: transport.ModeStreamable}, peers: make(chan *httpPeer, 100)}
		return unbroken(t, transporttest.Subject{Transport: s, Accept: s.accept, Unordered: true})
	})
}

// unbroken wraps the transport of a subject with an empty plan of faults.
func unbroken(t *testing.T, s transporttest.Subject) transporttest.Subject {
	w, err := chaos.Wrap(s.Transport, &chaos.Plan{})
	if err != nil {
		t.Fatal(err)
	}
	s.Transport = w
	return s
}
