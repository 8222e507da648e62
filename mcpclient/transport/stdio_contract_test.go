//go:build unix

package transport_test

import (
	"testing"

	"github.com/mcpotel/mcpotel/mcpclient/transport/transporttest"
)

func TestStdioKeepsTheContract(t *testing.T) {
	transporttest.Run(t, func(t *testing.T) transporttest.Subject {
		h := newHarness(t)
		return transporttest.Subject{Transport: h.stdio(), Accept: h.acceptPeer, Notices: true, Interruptible: true}
	})
}
