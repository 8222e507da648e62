package simulation

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/internal/schemacheck"
)

// The tests of this package accept only telemetry that the schema declares.
func init() { schemacheck.Strict = true }

var (
	seed    = flag.Uint64("simulation.seed", 0, "seed of the first world; 0 draws one")
	howLong = flag.Duration("simulation.time", 0, "for how long there are worlds; 0 is for one with a seed, else 3 s")
)

// enough is the number of failed worlds after which the test stops.
const enough = 5

// TestWorlds simulates one world after the other, with consecutive seeds.
func TestWorlds(t *testing.T) {
	first, long := *seed, *howLong
	if first == 0 {
		first = uint64(rand.Uint32())
		if long == 0 {
			long = 3 * time.Second
		}
	}
	by := time.Now().Add(long)
	worlds, operations, failed := 0, 0, 0
	for s := first; failed < enough && (s == first || time.Now().Before(by)); s++ {
		worlds++
		ok := t.Run(fmt.Sprint(s), func(t *testing.T) {
			again := fmt.Sprintf("go test ./testenv/simulation -run TestWorlds -simulation.seed %d", s)
			over := false
			defer func() {
				if t.Failed() || !over {
					t.Logf("again: %s", again)
				}
			}()
			synctest.Test(t, func(t *testing.T) { operations += newWorld(t, s).run() })
			over = true
		})
		if !ok {
			failed++
		}
	}
	t.Logf("seeds from %d: %d worlds, %d operations", first, worlds, operations)
}

// run simulates the world and returns the number of operations.
func (w *world) run() int {
	w.begin()
	defer w.settle()()
	draw := w.draw(5)
	for range 1 + draw.IntN(4) {
		w.clients = append(w.clients, w.newClient(draw))
	}
	var all sync.WaitGroup
	all.Go(w.direct)
	for i, c := range w.clients {
		actor := uint64(100 * (i + 1))
		for j := range 1 + draw.IntN(3) {
			all.Go(func() { c.use(w.draw(actor+uint64(j)), fmt.Sprint(i, "-", j)) })
		}
		all.Go(func() { c.watch(w.draw(actor + 50)) })
		all.Go(func() { c.desert(w.draw(actor + 51)) })
	}
	all.Wait()
	w.checkHeard()
	w.end()
	synctest.Wait()
	w.checkRuns()
	w.checkTelemetry()
	if w.t.Failed() {
		w.t.Logf("the world: %v\n%s", w, strings.Join(w.log, "\n"))
	}
	return len(w.operations.all)
}
