package instrument

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/mcpotel/mcpotel/internal/proctree"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

func TestTimeOfProcessesSurvivesRestarts(t *testing.T) {
	const ms = time.Millisecond
	usage := func(age, user, system time.Duration) proctree.Usage {
		return proctree.Usage{Age: age, User: user, System: system}
	}
	var got processTime
	for _, step := range []struct {
		what string
		pid  int
		u    proctree.Usage
		want cpuTime
	}{
		{"first", 7, usage(10*ms, 4*ms, 1*ms), cpuTime{4 * ms, 1 * ms}},
		{"later", 7, usage(20*ms, 9*ms, 2*ms), cpuTime{9 * ms, 2 * ms}},
		{"a descendant leaves", 7, usage(30*ms, 3*ms, 3*ms), cpuTime{9 * ms, 3 * ms}},
		{"a new process", 8, usage(5*ms, 1*ms, 1*ms), cpuTime{10 * ms, 4 * ms}},
		{"a new process with the same id", 8, usage(1*ms, 0, 1*ms), cpuTime{10 * ms, 5 * ms}},
	} {
		got.measured(step.pid, step.u)
		if got.sum() != step.want {
			t.Errorf("%s: got %v, want %v", step.what, got.sum(), step.want)
		}
	}
}

// The counter of each name never falls, whatever clients and processes do.
func TestTimeOfProcessesNeverFalls(t *testing.T) {
	tel := telemetry.New()
	newClient := func(i int) *Client { return NewClient(tel, fmt.Sprint("server", i%3), Network{}) }
	rapid.Check(t, func(t *rapid.T) {
		clients := make([]*Client, 6)
		for i := range clients {
			clients[i] = newClient(i)
		}
		defer func() {
			for _, c := range clients {
				c.Close()
			}
		}()
		var times processTimes
		last := map[gaugeKey]cpuTime{}
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			pids, usage := map[*Client]int{}, map[int]proctree.Usage{}
			for i, c := range clients {
				switch rapid.IntRange(0, 3).Draw(t, "event") {
				case 0: // the client closes, and a client with the same name follows
					times.ended(c)
					c.Close()
					clients[i] = newClient(i)
				case 1: // no process
				default:
					pid := 10*i + rapid.IntRange(1, 2).Draw(t, "pid")
					pids[c] = pid
					usage[pid] = proctree.Usage{
						Age:    time.Duration(rapid.IntRange(0, 9).Draw(t, "age")),
						User:   time.Duration(rapid.IntRange(0, 9).Draw(t, "user")),
						System: time.Duration(rapid.IntRange(0, 9).Draw(t, "system")),
					}
				}
			}
			now := times.times(pids, usage)
			for w, before := range last {
				if after := now[w]; after.user < before.user || after.system < before.system {
					t.Fatalf("%s: got %v after %v", w.name, after, before)
				}
			}
			last = now
		}
	})
}

func TestNamesOfProcessesAreBounded(t *testing.T) {
	all := map[gaugeKey]int{}
	for i := range 3 * maxProcessNames {
		all[gaugeKey{name: fmt.Sprint("server", i)}] = 1
	}
	sum := 0
	folded := foldedNames(all, func(a, b int) int { return a + b })
	for _, n := range folded {
		sum += n
	}
	if len(folded) > maxProcessNames || sum != len(all) {
		t.Errorf("got %d names with %d processes, want at most %d names with %d", len(folded), sum, maxProcessNames,
			len(all))
	}
	var times processTimes
	for w := range all {
		c := &Client{}
		c.metrics.side = &side{name: w.name}
		times.open = map[*Client]*processTime{c: {now: cpuTime{user: 1}}}
		times.ended(c)
	}
	if n := len(times.closed); n > maxProcessNames {
		t.Errorf("got the times of %d names of closed clients, want at most %d", n, maxProcessNames)
	}
}
