package explain

import (
	"fmt"
	"strings"

	"github.com/mcpotel/mcpotel/internal/unit"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

// ended describes the end of the operation, as evidence.
func (o *operation) ended() string {
	by := "the " + o.side
	switch {
	case o.pending:
		return fmt.Sprintf("%s: %s has not ended", by, o.name())
	case o.reason == "" && !o.failed:
		return fmt.Sprintf("%s: %s succeeded after %s", by, o.name(), unit.Duration(o.took))
	}
	return fmt.Sprintf("%s: %s ended with %s after %s", by, o.name(), name(o.reason), unit.Duration(o.took))
}

// record describes an entry of the subject's flight recorder, as evidence.
func (v *view) record(e *telemetry.FlightEntry) string {
	var b strings.Builder
	fmt.Fprintf(&b, "the %s recorded: %s", v.subject.peer.Side(), name(e.Kind))
	add := func(format string, args ...any) { fmt.Fprintf(&b, " "+format, args...) }
	if e.Method != "" {
		add("of %s", name(e.Method))
	}
	if e.From != "" {
		add("from %s to %s", name(e.From), name(e.To))
	}
	if e.Reason != "" {
		add("(%s)", name(e.Reason))
	}
	if e.Kind == kindExit {
		add("of process %d with code %d", e.PID, e.Code)
	}
	if e.Size > 0 {
		add("of a message of %d bytes", e.Size)
	}
	if e.Limit > 0 {
		add("over the limit of %d", e.Limit)
	}
	if e.Count > 1 {
		add("%d times in a row", e.Count)
	}
	return b.String() + after(v, e)
}

// after describes the time of an entry relative to the start of the subject.
func after(v *view, e *telemetry.FlightEntry) string {
	d := e.Time.Sub(v.subject.start)
	if d < 0 {
		return fmt.Sprintf(", %s before the call began", unit.Duration(-d))
	}
	return fmt.Sprintf(", %s after the call began", unit.Duration(d))
}
