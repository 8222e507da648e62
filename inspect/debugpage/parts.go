package debugpage

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mcpotel/mcpotel/inspect"
	"github.com/mcpotel/mcpotel/internal/unit"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// tile is a number with its name.
type tile struct {
	Value any
	Text  string // shown instead of the value
	Name  string
	Bad   bool
}

// fact is a line in a list of facts.
type fact struct{ Name, Value string }

// facts removes the facts without a value.
func facts(all ...fact) []fact {
	return slices.DeleteFunc(all, func(f fact) bool { return f.Value == "" })
}

// stateBadge is a word for a state, with a colour.
type stateBadge struct {
	Word, Class string
	Rank        int // severity; higher is worse
}

func badgeOf(c *inspect.Client) stateBadge {
	switch {
	case c.GaveUp != "":
		return stateBadge{"gave up", "bad", 4}
	case c.Ended:
		return stateBadge{"stopped", "mute", 0}
	case c.State == connstate.Backoff:
		return stateBadge{"backoff", "bad", 3}
	case c.State == connstate.Ready:
		return stateBadge{"ready", "good", 0}
	case c.State == connstate.Closing:
		return stateBadge{"closing", "mute", 1}
	}
	return stateBadge{c.State.String(), "warn", 2}
}

// traffic counts ended requests and failures. Cancelled requests do not count as failures. Neither does a failed probe,
// because its error only shows that the server is a legacy server.
type traffic struct{ Count, Failed uint64 }

func (t *traffic) add(o traffic) { t.Count, t.Failed = t.Count+o.Count, t.Failed+o.Failed }

func (t traffic) Percent() string { return percent(t.Failed, t.Count) }

func trafficOf(all []telemetry.Operation) (t traffic) {
	for _, o := range all {
		t.add(traffic{o.Count, failures(&o)})
	}
	return t
}

func failures(o *telemetry.Operation) uint64 {
	if o.Method == "server/discover" && o.Direction == "sent" {
		return 0
	}
	return o.Failed - min(o.Failed, o.Errors[names.ErrorCancelled])
}

// percent formats a share. "0 %" and "100 %" mean exactly none and all.
func percent(part, all uint64) string {
	switch {
	case part == 0 || all == 0:
		return "0 %"
	case part == all:
		return "100 %"
	}
	p := min(99.9, max(0.1, 100*float64(part)/float64(all)))
	return strconv.FormatFloat(p, 'f', 1, 64) + " %"
}

// trace is a trace id with its link.
type trace struct{ ID, Short, Href string }

func (h *handler) trace(id string) trace {
	t := trace{ID: id, Short: id[:min(8, len(id))]}
	if id != "" && h.traceURL != "" {
		t.Href = strings.ReplaceAll(h.traceURL, traceID, id)
	}
	return t
}

// callRow is a call in flight.
type callRow struct {
	inspect.Call
	About   string // target or URI
	Client  string // name of the client; empty on its own page
	Href    string // link to the client; empty on its own page
	Left    time.Duration
	Bounded bool // the call has a deadline
	Late    bool // the deadline is close or has passed
	Trace   trace
	Marks   []string
}

func (h *handler) callRow(c *inspect.Call, now time.Time, client, href string) callRow {
	r := callRow{Call: *c, About: cmp.Or(c.Target, c.URI), Client: client, Href: href, Trace: h.trace(c.TraceID)}
	if !c.Deadline.IsZero() {
		r.Bounded, r.Left = true, c.Deadline.Sub(now)
		r.Late = r.Left < c.Deadline.Sub(c.Since)/10
	}
	if c.Stream {
		r.Marks = append(r.Marks, "subscription")
	}
	if c.Retries > 0 {
		r.Marks = append(r.Marks, fmt.Sprintf("sent again %d×", c.Retries))
	}
	if c.Round > 0 {
		r.Marks = append(r.Marks, fmt.Sprintf("round %d", c.Round))
	}
	return r
}

// opRow describes the requests with one method and target.
type opRow struct {
	telemetry.Operation
	Failures uint64
	Percent  string
	Errors   []errorPart
}

type errorPart struct {
	Type   string
	Count  uint64
	Benign bool // not counted as a failure
}

// opRows returns the operations, sorted by their count.
func opRows(all []telemetry.Operation) (sent, received []opRow) {
	for _, o := range all {
		r := opRow{Operation: o, Failures: failures(&o)}
		r.Percent = percent(r.Failures, o.Count)
		for _, word := range slices.Sorted(maps.Keys(o.Errors)) {
			r.Errors = append(r.Errors, errorPart{word, o.Errors[word], r.Failures == 0 || word == names.ErrorCancelled})
		}
		slices.SortStableFunc(r.Errors, func(a, b errorPart) int { return cmp.Compare(b.Count, a.Count) })
		if o.Direction == "sent" {
			sent = append(sent, r)
		} else {
			received = append(received, r)
		}
	}
	byCount := func(a, b opRow) int { return cmp.Compare(b.Count, a.Count) }
	slices.SortStableFunc(sent, byCount)
	slices.SortStableFunc(received, byCount)
	return sent, received
}

// flightRow is an entry of a flight recorder.
type flightRow struct {
	telemetry.FlightEntry
	Ago   time.Duration
	What  string // description in words
	Word  string // outcome
	Class string // CSS class of the outcome
	Bad   bool
	More  []string
	Trace trace
}

// recent holds the entries of a flight recorder, newest first.
type recent struct {
	Rows, Rest []flightRow // Rest is shown on demand
	ID         string      // id of the element with Rest
}

// maxRecent bounds the entries that the page shows before the user opens the rest.
const maxRecent = 40

func (h *handler) recent(entries []telemetry.FlightEntry, now time.Time, id string) recent {
	rows := make([]flightRow, 0, len(entries))
	for _, e := range slices.Backward(entries) {
		rows = append(rows, h.flightRow(&e, now))
	}
	n := min(maxRecent, len(rows))
	return recent{rows[:n], rows[n:], id}
}

func (h *handler) flightRow(e *telemetry.FlightEntry, now time.Time) flightRow {
	r := flightRow{FlightEntry: *e, Ago: max(0, now.Sub(e.Time)), What: said(e), Trace: h.trace(e.TraceID), Word: e.Reason}
	switch {
	case e.Pending:
		r.Word, r.Class = "in flight", "warn"
	case e.Failed && e.Reason == names.ErrorCancelled:
		r.Class = "mute"
	case e.Failed:
		r.Word, r.Class, r.Bad = cmp.Or(e.Reason, "failed"), "bad", true
	case e.Kind == "transition":
		r.Word, r.Class = e.To, map[string]string{"ready": "good", "backoff": "bad", "closing": "mute"}[e.To]
	case e.Reason != "": // for example, the client caused the error, or the result is not final
		r.Class = "mute"
	case e.Kind == "request", e.Kind == "handler", e.Kind == "attempt":
		r.Word, r.Class = "ok", "good"
	}
	r.More = r.details()
	return r
}

// said describes an entry in words.
func said(e *telemetry.FlightEntry) string {
	switch e.Kind {
	case "request", "handler", "notification":
		return e.Target // the row shows the method before it
	case "transition":
		return e.From + " → " + e.To
	case "attempt":
		return fmt.Sprintf("attempt %d to connect", e.Attempt)
	case "backoff":
		return "until the next attempt"
	case "violation":
		return "a frame broke the protocol"
	case "drop":
		return "an answer without a waiting request"
	case "lost":
		return "was lost"
	case "panic":
		return "its handler panicked"
	case "exit":
		return fmt.Sprintf("process %d ended", e.PID)
	case "stream":
		if e.Closed {
			return "closed"
		}
		return "opened"
	case "task":
		return e.Target
	case "session":
		return "session ended"
	case "failure":
		return "the connection to a client broke"
	}
	return e.Kind
}

func (r *flightRow) details() (more []string) {
	add := func(there bool, format string, args ...any) {
		if there {
			more = append(more, fmt.Sprintf(format, args...))
		}
	}
	e := &r.FlightEntry
	add(e.Count > 1, "%d times in a row", e.Count)
	add(e.ID != "", "id %s", e.ID)
	add(e.BytesSent > 0, "%s sent", unit.Size(int64(e.BytesSent)))
	add(e.BytesReceived > 0, "%s received", unit.Size(int64(e.BytesReceived)))
	add(e.Retries > 0, "sent again %d×", e.Retries)
	add(e.Round > 0, "round %d", e.Round)
	add(e.Kind == "transition", "%s", e.Reason)
	add(e.Epoch > 0, "connection %d", e.Epoch)
	add(e.Kind == "transition" && e.Attempt > 0, "attempt %d", e.Attempt)
	add(e.Size > 0, "frame of %s", unit.Size(e.Size))
	add(e.Limit > 0, "limit %s", unit.Size(e.Limit))
	add(e.Kind == "exit" && e.Code >= 0, "code %d", e.Code)
	return more
}
