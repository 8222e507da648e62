package gameday

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpotel/mcpotel/internal/command/receiver"
)

// An Alert is pending or firing.
type Alert struct {
	Name        string
	State       State
	Labels      map[string]string
	Annotations map[string]string
}

// Alerts is an alerting system, such as a Prometheus.
type Alerts interface {
	// Rules returns the names of all alerts with rules.
	Rules(ctx context.Context) ([]string, error)

	// Active returns the alerts that are pending or firing now.
	Active(ctx context.Context) ([]Alert, error)

	// Exemplars returns the trace ids of measurements not older than since, the newest first, in metrics with these
	// labels.
	Exemplars(ctx context.Context, labels map[string]string, since time.Time) ([]string, error)
}

// Traces is a trace backend, such as a Jaeger.
type Traces interface {
	// Tagged returns the ids of the traces, not older than since, in which a span of the service has these attributes.
	Tagged(ctx context.Context, service string, attributes map[string]string, since time.Time) ([]string, error)

	// Has reports whether a span of the service in the trace has these attributes.
	Has(ctx context.Context, id, service string, attributes map[string]string) (bool, error)
}

// Options configure a game day.
type Options struct {
	Drills []Drill
	Alerts Alerts
	Traces Traces // nil for no search for traces

	// Explain returns the message of the receiver of alerts about an alert that fires. The failure lasts until it returns.
	// It may be nil: then the explanation is not checked.
	Explain func(ctx context.Context, a Alert) (*receiver.Message, error)

	// Begin starts the telemetry of a service: [Service], [Absent] or [Overflows]. Overflows gets a low limit of series
	// for each instrument. Calls to Begin do not overlap.
	Begin func(ctx context.Context, service string) (Exporting, error)

	// Run is a suffix that distinguishes the clients and servers of this game day from those of other game days.
	Run string

	// Poll is the interval for reading the alerts.
	Poll time.Duration

	// Pace is the factor by which the windows of the alerts are shorter than in the dashboards. 0 means 1.
	Pace float64

	// Say is called with each event; calls do not overlap. It may be nil.
	Say func(Event)
}

// An Event is a change in a drill.
type Event struct {
	Alert string
	Text  string
}

// A Result is the result of one drill. Durations are 0 for events that did not happen.
type Result struct {
	Alert    string
	Outcome  Outcome
	Fired    time.Duration // from the first failure until the alert fired
	Resolved time.Duration // from the time when the alert fired until it resolved
	Trace    string        // id of a trace that shows the cause
	Link     string        // how the trace was found: exemplar or search
	Causes   string        // names of the causes in the explanation, separated by spaces
	Trouble  string        // other problems: in the drill, or in the search for traces
}

// drilling is a drill in progress.
type drilling struct {
	Drill
	o       *Options
	stage   stage
	broken  atomic.Bool
	trouble atomic.Pointer[string] // error of the last round that failed unexpectedly

	progress
	labels      map[string]string // labels of the alert when it was last active
	annotations map[string]string // annotations at that time
	trace, link string
	answer      atomic.Pointer[answer] // nil until the alert is explained
	explaining  sync.WaitGroup
	looked      error // error of the search for a trace
	unknown     bool  // no rule has the name of the alert
}

// Run runs all drills until their alerts have fired and resolved, or until ctx ends, which is not an error. It waits
// for everything that it has started. It returns an error if the telemetry or the alerting system cannot be used.
func Run(ctx context.Context, o *Options) (results []Result, err error) {
	rules, err := o.Alerts.Rules(ctx)
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, name := range rules {
		known[name] = true
	}
	shared, err := o.Begin(ctx, Service)
	if err != nil {
		return nil, err
	}
	all := make([]*drilling, len(o.Drills))
	var beginning sync.Mutex
	for i, d := range o.Drills {
		all[i] = &drilling{Drill: d, o: o, unknown: !known[d.Alert]}
		all[i].stage = stage{name: "gameday-" + d.Alert + o.Run, service: shared,
			begin: func(ctx context.Context) (Exporting, error) {
				beginning.Lock()
				defer beginning.Unlock()
				return o.Begin(ctx, d.service)
			}}
	}
	playing, stop := context.WithCancel(ctx)
	defer stop()
	var group sync.WaitGroup
	for _, d := range all {
		if !d.unknown {
			d.begin(time.Now())
			group.Go(func() { d.play(playing) })
		}
	}
	o.watch(ctx, all)
	stop()
	group.Wait()
	for _, d := range all {
		d.explaining.Wait()
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	err = shared.Shutdown(ending)
	for _, d := range all {
		results = append(results, d.result())
	}
	return results, err
}

// watch polls the alerts until all drills are over or ctx ends.
func (o *Options) watch(ctx context.Context, all []*drilling) {
	tick := time.NewTicker(o.Poll)
	defer tick.Stop()
	failing := ""
	for {
		active, err := o.Alerts.Active(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil && err.Error() != failing:
			failing = err.Error()
			o.say("", "cannot read the alerts: "+failing)
		case err == nil:
			failing = ""
			if o.look(ctx, all, active) {
				return
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// look updates the drills with the active alerts. done reports whether all drills are over.
func (o *Options) look(ctx context.Context, all []*drilling, active []Alert) (done bool) {
	done = true
	for _, d := range all {
		if d.unknown {
			continue
		}
		if now := time.Now(); d.see(now, d.state(active), o.paced(d.warm)) {
			if d.phase == mending && o.Explain != nil {
				d.explain(ctx)
			}
			d.tell()
		}
		d.broken.Store(d.phase == raising || d.phase == mending && d.awaits())
		if d.phase >= mending {
			d.find(ctx)
		}
		traced := d.trace != "" || o.Traces == nil || time.Since(d.recovered) > time.Minute
		done = done && d.phase == over && !d.awaits() && traced
	}
	return done
}

// paced shortens a duration by Options.Pace.
func (o *Options) paced(d time.Duration) time.Duration {
	return time.Duration(float64(d) / cmp.Or(o.Pace, 1))
}

// soonest is the minimum interval between two rounds.
const soonest = 200 * time.Millisecond

func (o *Options) say(alert, text string) {
	if o.Say != nil {
		o.Say(Event{alert, text})
	}
}

// tell calls Say for the phase that the drill has reached.
func (d *drilling) tell() {
	switch d.phase {
	case raising:
		d.o.say(d.Alert, d.Does)
	case mending:
		now := "the failure is now repaired"
		if d.o.Explain != nil {
			now = "the failure lasts until the alert is explained"
		}
		d.o.say(d.Alert, fmt.Sprintf("fires after %v; %s", d.fired.Sub(d.broke).Round(time.Second), now))
	case over:
		d.o.say(d.Alert, fmt.Sprintf("resolves after %v", d.recovered.Sub(d.fired).Round(time.Second)))
	}
}

// state returns the state of the drill's alert.
func (d *drilling) state(active []Alert) (s State) {
	for _, a := range active {
		if a.Name == d.Alert && d.about(a.Labels) && a.State > s {
			s, d.labels, d.annotations = a.State, a.Labels, a.Annotations
		}
	}
	return s
}

// about reports whether an alert with these labels may belong to this drill: the labels for service, client and server
// must match, if present.
func (d *drilling) about(labels map[string]string) bool {
	if job := labels["job"]; job != "" && job != d.job() && !strings.HasSuffix(job, "/"+d.job()) { // service.namespace
		return false
	}
	for _, key := range []string{"mcp_client_name", "mcp_server_name"} {
		if name := labels[key]; name != "" && name != d.stage.name {
			return false
		}
	}
	return true
}

// job returns the name of the service.
func (d *drilling) job() string { return cmp.Or(d.service, Service) }

// play runs rounds until ctx ends.
func (d *drilling) play(ctx context.Context) {
	tick := time.NewTicker(max(d.o.paced(cmp.Or(d.every, time.Second)), soonest))
	defer tick.Stop()
	round, err := d.open(ctx, &d.stage)
	for err == nil && ctx.Err() == nil {
		if failed := round(ctx, d.broken.Load()); failed != nil && ctx.Err() == nil {
			d.troubled(failed)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
	if err != nil {
		d.troubled(err)
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	if err := d.stage.close(ending); err != nil {
		d.troubled(err)
	}
}

func (d *drilling) troubled(err error) {
	text := err.Error()
	d.trouble.Store(&text)
}

// result returns the result of the drill.
func (d *drilling) result() Result {
	r := Result{Alert: d.Alert, Outcome: d.outcome(d.trace != "" || d.o.Traces == nil), Trace: d.trace, Link: d.link}
	if d.unknown {
		r.Outcome = NotLoaded
	}
	if !d.fired.IsZero() {
		r.Fired = d.fired.Sub(d.broke)
	}
	if !d.recovered.IsZero() {
		r.Resolved = d.recovered.Sub(d.fired)
	}
	if text := d.trouble.Load(); text != nil {
		r.Trouble = *text
	}
	if r.Outcome == NoTrace && d.looked != nil {
		r.Trouble = d.looked.Error()
	}
	if a := d.answer.Load(); a != nil && a.err == nil {
		r.Causes = causesOf(a.message)
	}
	if text := d.lacking(); text != "" && r.Outcome == Passed {
		r.Outcome, r.Trouble = Unexplained, text
	}
	return r
}
