package mcpserver_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcpserver"
)

// The server refuses every request of a client in an unknown revision, but logs few warnings. Each later warning
// contains the number of suppressed warnings before it.
func TestSuppressedWarningsAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := serve(t, t.Context(), newServer(t, mcpserver.Options{}))
		unknown := strings.ReplaceAll(bothMetas, "2026-07-28", "2099-01-01")
		refused := func(id int) {
			w.send(asked(id, "tools/list", unknown, `"cursor":""`))
			if got := w.taken(); len(got) != 1 || !strings.Contains(got[0], "-32022") {
				t.Fatalf("want the request refused for its revision, got %q", got)
			}
		}
		for id := range 10 {
			refused(id + 1)
		}
		time.Sleep(2 * time.Second)
		refused(11)
		if err := w.finish(); err != nil {
			t.Fatal(err)
		}
	})
}
