package web

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
)

// idle is a server that answers nothing.
type idle struct{ Server }

func (idle) Observer(instrument.Network) rpc.Observer { return rpc.Observer{} }
func (idle) EndStreams()                              {}
func (idle) Farewell() time.Duration                  { return 0 }
func (idle) Close(context.Context)                    {}

// The goroutine of an HTTP request may end before the server has concluded its subscription.
func TestShutdownWaitsForDisconnectedSubscriptions(t *testing.T) {
	for name, test := range map[string]struct {
		after time.Duration
		want  string // the error
	}{
		"concluded soon": {rpc.Settle / 2, ""},
		"never":          {time.Hour, "handlers still running although their contexts have ended: 1"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := New(idle{}, new(Options))
				c := &rpc.Call{Exchange: &rpc.Exchange{Work: t.Context()}}
				h.stateless.live[c] = struct{}{}
				concluded := time.AfterFunc(test.after, func() { _ = h.stateless.Finish(c) })
				defer concluded.Stop()
				err := h.Shutdown(t.Context())
				if test.want == "" && err != nil || test.want != "" && (err == nil || err.Error() != test.want) {
					t.Errorf("got %v, want %q", err, test.want)
				}
			})
		})
	}
}
