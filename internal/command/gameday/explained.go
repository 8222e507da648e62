package gameday

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/mcpotel/mcpotel/internal/command/receiver"
)

// groupWait is the time that Alertmanager waits before it sends a new alert: its default of group_wait.
const groupWait = 30 * time.Second

// answer is the answer of the receiver of alerts.
type answer struct {
	message *receiver.Message
	err     error
}

// explain asks for the explanation of the drill's alert, which fires, when Alertmanager would have sent the alert. The
// goroutine ends with ctx; Run waits for it.
func (d *drilling) explain(ctx context.Context) {
	alert := Alert{Name: d.Alert, State: Firing, Labels: d.labels, Annotations: d.annotations}
	d.explaining.Go(func() {
		select {
		case <-time.After(d.o.paced(groupWait)):
		case <-ctx.Done():
			return
		}
		m, err := d.o.Explain(ctx, alert)
		if err == nil && m == nil {
			err = errors.New("no message")
		}
		d.answer.Store(&answer{m, err})
	})
}

// awaits reports whether the explanation of the alert is missing.
func (d *drilling) awaits() bool { return d.o.Explain != nil && d.answer.Load() == nil }

// lacking returns the parts that the explanation does not have, or an empty text.
func (d *drilling) lacking() string {
	a := d.answer.Load()
	switch {
	case d.o.Explain == nil:
		return ""
	case a == nil:
		return "the alert was not explained in time"
	case a.err != nil:
		return a.err.Error()
	}
	var lacking []string
	has := func(part string, is bool) {
		if !is {
			lacking = append(lacking, part)
		}
	}
	m := a.message
	has("a cause", len(m.Causes) > 0)
	for _, c := range m.Causes {
		has("evidence of the cause "+c.ID, len(c.Evidence) > 0)
	}
	if want := d.cause(); want != "" {
		has("the cause "+want, strings.Contains(" "+causesOf(m)+" ", " "+want+" "))
	}
	has("a link to a trace", m.Trace != nil && (m.Trace.TraceID != "" || d.o.Traces == nil))
	has("a link to the runbook", m.Runbook != nil)
	if lacking == nil {
		return ""
	}
	return "the explanation lacks " + strings.Join(append(lacking, m.Missing...), "; ")
}

// cause returns the cause that the explanation must have, or an empty text for the user's own alerts, whose names the
// receiver does not know.
func (d *drilling) cause() string {
	for _, known := range Drills() {
		if known.Alert == d.Alert {
			return cmp.Or(d.Cause, known.Cause)
		}
	}
	return ""
}

// causesOf returns the names of the causes of a message.
func causesOf(m *receiver.Message) string {
	var ids []string
	for _, c := range m.Causes {
		ids = append(ids, c.ID)
	}
	return strings.Join(ids, " ")
}
