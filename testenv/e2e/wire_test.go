package e2e

import (
	"net/http"
	"os"
	"sync"
	"testing"

	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/testenv/wire"
)

// schemas returns the schemas of the specification, or nil if the environment names no directory for them.
var schemas = sync.OnceValues(func() (*wire.Schemas, error) {
	dir := os.Getenv(wire.Environment)
	if dir == "" {
		return nil, nil
	}
	return wire.Load(dir)
})

// checked returns t with a check of each message that the client sends and, if ours is set, that the server sends.
func checked(t *testing.T, tr transport.Transport, ours bool) transport.Transport {
	t.Helper()
	s, err := schemas()
	if err != nil {
		t.Fatal(err)
	}
	if s == nil {
		return tr
	}
	return wire.Tap(tr, s, fault(t, ours, true))
}

// checkedHandler returns h with a check of each message that the server sends and, if ours is set, that the client
// sends.
func checkedHandler(t *testing.T, h http.Handler, ours bool) http.Handler {
	t.Helper()
	s, err := schemas()
	if err != nil {
		t.Fatal(err)
	}
	if s == nil {
		return h
	}
	return wire.Handler(h, s, fault(t, true, ours))
}

// fault reports invalid messages of this module's own sides as failures, and logs those of others.
func fault(t *testing.T, ourServer, ourClient bool) func(wire.Side, error) {
	var mu sync.Mutex
	over := false
	t.Cleanup(func() {
		mu.Lock()
		defer mu.Unlock()
		over = true
	})
	return func(from wire.Side, err error) {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case over: // a test that has ended must not be called
		case from == wire.Client && ourClient, from == wire.Server && ourServer:
			t.Errorf("against the schema: %v", err)
		default:
			t.Logf("the other side, against the schema: %v", err)
		}
	}
}
