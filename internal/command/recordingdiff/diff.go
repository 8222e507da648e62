package recordingdiff

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/mcpotel/mcpotel/internal/recording"
	"github.com/mcpotel/mcpotel/internal/unit"
	"github.com/mcpotel/mcpotel/mcp"
)

// Compare reports how b differs from a. It compares sessions in order. Within a session it pairs requests of the same
// side, method and name: first requests with equal params, then requests in the same place (see align). Without
// content, only the place counts. Of several tasks/get requests for one task, only the last is compared. Pings and
// subscriptions are ignored.
func Compare(a, b *recording.File, o *Options) *Report {
	c := comparison{a: a, b: b, report: &Report{Changes: []Change{}, Durations: []Duration{}, Notes: []string{}}}
	if o != nil {
		c.o = *o
	}
	c.content = a.Content && b.Content
	c.notes()
	as, bs := sessionsOf(a), sessionsOf(b)
	for i := range max(len(as), len(bs)) {
		c.session(i+1, at(as, i), at(bs, i))
	}
	c.durations(as, bs)
	c.report.Same = len(c.report.Changes) == 0
	return c.report
}

func at(all []*session, i int) *session {
	if i < len(all) {
		return all[i]
	}
	return &session{}
}

type comparison struct {
	a, b    *recording.File
	o       Options
	content bool
	report  *Report
}

// notes reports the parts that cannot be compared.
func (c *comparison) notes() {
	if !c.content {
		c.report.Notes = append(c.report.Notes, "params and results were not compared, because at least one recording has "+
			"no content")
	}
	for i, f := range []*recording.File{c.a, c.b} {
		which := []string{"first", "second"}[i]
		switch {
		case f.Cut:
			c.report.Notes = append(c.report.Notes, "the "+which+" recording was cut: its end is missing")
		case f.Why != "":
			c.report.Notes = append(c.report.Notes, "the "+which+" recording ends early: "+f.Why)
		}
	}
}

// session is a session of a recording.
type session struct {
	requests []*exchange
	tasks    map[string]*exchange // latest tasks/get request, by its params
	notified map[string]int       // number of notifications, by side and method
}

// exchange is a request with its answer. The answer is nil if the recording has none.
type exchange struct {
	*recording.Entry
	answer *recording.Entry
}

// ignoredMethods are methods whose number of requests varies between runs.
var ignoredMethods = map[string]bool{mcp.MethodPing: true, mcp.MethodSubscriptionsListen: true}

func sessionsOf(f *recording.File) (all []*session) {
	byNumber, byRequest := map[int]*session{}, map[int]*exchange{}
	for _, e := range f.Entries {
		s := byNumber[e.Session]
		if s == nil {
			s = &session{notified: map[string]int{}, tasks: map[string]*exchange{}}
			byNumber[e.Session] = s
			all = append(all, s)
		}
		switch {
		case e.Answers():
			if x := byRequest[e.Request]; x != nil {
				x.answer = e
			}
		case e.Kind == recording.Notification:
			s.notified[string(e.From)+" "+e.Method]++
		case !ignoredMethods[e.Method]:
			byRequest[e.Request] = s.add(e)
		}
	}
	return all
}

// add adds a request. A tasks/get request replaces the previous one for the same task.
func (s *session) add(e *recording.Entry) *exchange {
	x := &exchange{Entry: e}
	if e.Method == mcp.MethodGetTask {
		task := recording.Text(recording.ValueOf(e.Content))
		if before := s.tasks[task]; before != nil {
			*before = *x
			return before
		}
		s.tasks[task] = x
	}
	s.requests = append(s.requests, x)
	return x
}

// key returns the side, method and name, which are equal for paired exchanges.
func (x *exchange) key() string { return string(x.From) + " " + x.Method + " " + x.Name }

func (x *exchange) change(kind string, session int, text string) Change {
	return Change{Kind: kind, Session: session, From: x.From, Method: x.Method, Name: x.Name, Text: text}
}

func (c *comparison) session(number int, a, b *session) {
	n := numbers{}
	pairs := align(c.marks(a, n), c.marks(b, n))
	paired := make([]bool, len(b.requests))
	last, ordered := -1, true
	for i, x := range a.requests {
		j := pairs[i]
		if j < 0 {
			c.report.Missing++
			one := x.change(Missing, number, "only the first recording has this request")
			one.A = x.Seq
			c.report.add(one)
			continue
		}
		ordered = ordered && j > last
		last, paired[j] = j, true
		c.report.Compared++
		c.pair(number, x, b.requests[j])
	}
	for j, y := range b.requests {
		if !paired[j] {
			c.report.Added++
			one := y.change(Added, number, "only the second recording has this request")
			one.B = y.Seq
			c.report.add(one)
		}
	}
	if !ordered {
		c.report.add(Change{Kind: Order, Session: number, Text: "the order of the requests differs"})
	}
	c.notifications(number, a, b)
}

func (c *comparison) notifications(number int, a, b *session) {
	for _, both := range []struct {
		has, lacks *session
		which      string
	}{{a, b, "first"}, {b, a, "second"}} {
		for _, key := range slices.Sorted(maps.Keys(both.has.notified)) {
			if both.lacks.notified[key] == 0 {
				from, method, _ := strings.Cut(key, " ")
				c.report.add(Change{
					Kind: Notifications, Session: number, From: recording.Side(from), Method: method,
					Text: fmt.Sprintf("only the %s recording has this notification, %d times", both.which, both.has.notified[key]),
				})
			}
		}
	}
}

// durations compares the median durations of the host's requests.
func (c *comparison) durations(as, bs []*session) {
	took := [2]map[string][]int64{{}, {}}
	of := map[string]*exchange{}
	for i, sessions := range [][]*session{as, bs} {
		for _, s := range sessions {
			for _, x := range s.requests {
				if x.From == recording.HostSide && x.answer != nil && x.answer.Kind != recording.Cancelled {
					took[i][x.key()] = append(took[i][x.key()], x.answer.TookUS)
					of[x.key()] = x
				}
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(of)) {
		a, b, x := took[0][key], took[1][key], of[key]
		if a == nil || b == nil {
			continue
		}
		d := Duration{x.Method, x.Name, len(a) + len(b), median(a), median(b)}
		c.report.Durations = append(c.report.Durations, d)
		if c.o.Latency > 0 && float64(d.BUS) > c.o.Latency*float64(d.AUS) && d.BUS-d.AUS >= 1000 {
			c.report.add(x.change(Latency, 0, fmt.Sprintf("takes %s, not %s", micros(d.BUS), micros(d.AUS))))
		}
	}
}

func micros(n int64) string { return unit.Duration(time.Duration(n) * time.Microsecond) }

func median(all []int64) int64 {
	slices.Sort(all)
	return all[len(all)/2]
}

var index = regexp.MustCompile(`\[\d+\]`)

// ignored reports whether a path is excluded by Options.Ignore.
func (c *comparison) ignored(path string) bool {
	for _, p := range c.o.Ignore {
		if p == path || strings.Contains(p, "[*]") && p == index.ReplaceAllString(path, "[*]") {
			return true
		}
	}
	return false
}
