package e2e

import (
	"net/http"
	"os"
	"sync"
	"testing"

	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/testenv/wire"
)

// schemas are those of the specification, nil where the environment does not say where they are.
var schemas = sync.OnceValues(func() (*wire.Schemas, error) {
	dir := os.Getenv(wire.Environment)
	if dir == "" {
		return nil, nil
	}
	return wire.Load(dir)
})

// checked returns t with every message checked that our client sends, and, if ours, that the server sends.
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

// checkedHandler returns h with every message checked that our server sends, and, if ours, that the client sends.
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

// fault reports what our own sides send wrongly; what others do is for the log.
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
		case over: // a test must not be told any more
		case from == wire.Client && ourClient, from == wire.Server && ourServer:
			t.Errorf("against the schema: %v", err)
		default:
			t.Logf("the other side, against the schema: %v", err)
		}
	}
}
