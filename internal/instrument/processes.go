package instrument

import (
	"maps"
	"slices"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/mcpotel/mcpotel/internal/instrument/words"
	"github.com/mcpotel/mcpotel/internal/proctree"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// processTimes holds the CPU time of the servers' processes, so that the counter never falls: not when a process ends,
// and not when its client is closed. The memory is bounded by the open clients and by the names of closed ones.
type processTimes struct {
	open   map[*Client]*processTime
	closed map[gaugeKey]cpuTime // sums over closed clients; at most maxProcessNames entries
}

// maxProcessNames is the number of client names that the metrics of processes distinguish: each has two series of
// process.cpu.time.
const maxProcessNames = words.MaxSets / 2

// cpuTime is a CPU time by mode.
type cpuTime struct{ user, system time.Duration }

func (t cpuTime) plus(other cpuTime) cpuTime {
	return cpuTime{t.user + other.user, t.system + other.system}
}

// processTime is the CPU time of one client's processes.
type processTime struct {
	ended cpuTime // of earlier processes
	pid   int
	age   time.Duration // age of the latest process when it was measured
	now   cpuTime       // of the latest process
}

// measured adds a measurement of the process pid. A time that is less than before belongs to a new process with the
// same id if the process is younger. Otherwise a descendant has left the tree, and the time stays.
func (t *processTime) measured(pid int, u proctree.Usage) {
	if pid != t.pid || u.Age < t.age {
		t.ended, t.now = t.sum(), cpuTime{}
	}
	t.pid, t.age = pid, u.Age
	t.now = cpuTime{max(t.now.user, u.User), max(t.now.system, u.System)}
}

func (t *processTime) sum() cpuTime { return t.ended.plus(t.now) }

// ended keeps the time of a client that closes.
func (p *processTimes) ended(c *Client) {
	t := p.open[c]
	if t == nil {
		return
	}
	delete(p.open, c)
	w := c.metrics.gaugeKey()
	if _, known := p.closed[w]; !known && len(p.closed) >= maxProcessNames-words.FoldedNames {
		w = clientsBeyond(w)
	}
	if p.closed == nil {
		p.closed = map[gaugeKey]cpuTime{}
	}
	p.closed[w] = p.closed[w].plus(t.sum())
}

// times returns the sums by name, after the measurements of the running processes.
func (p *processTimes) times(pids map[*Client]int, usage map[int]proctree.Usage) map[gaugeKey]cpuTime {
	for c, pid := range pids {
		u, measured := usage[pid]
		if !measured {
			continue
		}
		if p.open == nil {
			p.open = map[*Client]*processTime{}
		}
		if p.open[c] == nil {
			p.open[c] = new(processTime)
		}
		p.open[c].measured(pid, u)
	}
	all := maps.Clone(p.closed)
	if all == nil {
		all = map[gaugeKey]cpuTime{}
	}
	for c, t := range p.open {
		w := c.metrics.gaugeKey()
		all[w] = all[w].plus(t.sum())
	}
	return all
}

// observeProcesses observes the processes of the servers. It adds up the processes of clients with the same name.
func (g *gauges) observeProcesses(o metric.Observer, clients []*Client) {
	pids := map[*Client]int{}
	for _, c := range clients {
		if pid := c.process.Load(); pid != nil {
			if id := (*pid)(); id != 0 {
				pids[c] = id
			}
		}
	}
	usage := proctree.Measure(slices.Collect(maps.Values(pids)))
	g.mu.Lock()
	maps.DeleteFunc(pids, func(c *Client, _ int) bool { return !slices.Contains(g.clients, c) }) // closed in the meantime
	times := g.processes.times(pids, usage)
	g.mu.Unlock()
	for w, t := range foldedNames(times, cpuTime.plus) {
		o.ObserveFloat64(g.ins.processTime, t.user.Seconds(),
			w.set(&clientKeys, attribute.String(names.KeyCpuMode, words.CPUUser)))
		o.ObserveFloat64(g.ins.processTime, t.system.Seconds(),
			w.set(&clientKeys, attribute.String(names.KeyCpuMode, words.CPUSystem)))
	}
	running := map[gaugeKey]proctree.Usage{}
	for c, pid := range pids {
		if u, measured := usage[pid]; measured {
			add(running, c.metrics.gaugeKey(), u, together)
		}
	}
	for w, u := range foldedNames(running, together) {
		o.ObserveInt64(g.ins.processMemory, u.Memory, w.set(&clientKeys))
		o.ObserveInt64(g.ins.processes, int64(u.Processes), w.set(&clientKeys))
		o.ObserveFloat64(g.ins.processUptime, u.Age.Seconds(), w.set(&clientKeys))
	}
}

// together returns the usage of two trees: the sums, and the age of the younger one.
func together(a, b proctree.Usage) proctree.Usage {
	return proctree.Usage{Processes: a.Processes + b.Processes, Memory: a.Memory + b.Memory, User: a.User + b.User,
		System: a.System + b.System, Age: min(a.Age, b.Age)}
}

// add puts v into all. If there is a value already, it combines both.
func add[V any](all map[gaugeKey]V, w gaugeKey, v V, combine func(a, b V) V) {
	if before, there := all[w]; there {
		v = combine(before, v)
	}
	all[w] = v
}

// foldedNames returns the values by name. If the limit of names is exceeded, it combines the values of the names that
// are last in order, so that the choice rarely changes.
func foldedNames[V any](all map[gaugeKey]V, combine func(a, b V) V) map[gaugeKey]V {
	if len(all) <= maxProcessNames {
		return all
	}
	folded := make(map[gaugeKey]V, maxProcessNames)
	for i, w := range slices.SortedFunc(maps.Keys(all), gaugeKey.compare) {
		v := all[w]
		if i >= maxProcessNames-words.FoldedNames {
			w = clientsBeyond(w)
		}
		add(folded, w, v, combine)
	}
	return folded
}
