package flight

import (
	"strconv"
	"time"
)

// When a connection fails, a log record lists the entries since the last such record, one per line. If connections fail
// repeatedly, at most one such record is written in each logEvery. The next record lists the entries in between, if the
// ring still contains them.
const (
	logEvery = time.Minute
	maxText  = 16 << 10 // maximum size of the text in bytes; the latest entries are kept
)

// logged describes the latest log record about the recorder.
type logged struct {
	next       uint64 // number of the first entry after the record
	at         time.Time
	suppressed int // number of records suppressed since then
}

// Report is the content of a log record about the recorder.
type Report struct {
	Text       string
	Entries    int // number of entries in Text
	Omitted    int // number of entries that exceed the limit of Text
	Suppressed int // number of records suppressed since the last record
}

// Report returns the entries since the last report. ok is false if there are none, or if the last report is less than a
// minute old.
func (r *Recorder) Report(now time.Time) (_ Report, ok bool) {
	some, suppressed, ok := r.unlogged(now)
	if !ok {
		return Report{}, false
	}
	text, entries := textOf(some, r.At(now))
	return Report{text, entries, len(some) - entries, suppressed}, true
}

// unlogged returns the entries since the last record, and the number of records that were suppressed since then.
func (r *Recorder) unlogged(now time.Time) (some []Entry, suppressed int, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	last := r.logged
	switch {
	case last == nil:
		last = &logged{}
	case now.Sub(last.at) < logEvery:
		last.suppressed++
		return nil, 0, false
	}
	some, suppressed = r.copyFrom(last.next), last.suppressed
	r.logged = &logged{next: r.next, at: now}
	return some, suppressed, len(some) > 0
}

// textOf returns the latest entries as text, up to the limit, oldest first.
func textOf(some []Entry, now time.Duration) (text string, entries int) {
	lines := make([][]byte, 0, len(some))
	size := 0
	for i := len(some) - 1; i >= 0; i-- {
		line := some[i].appendLine(nil, now)
		if size += len(line) + 1; size > maxText {
			break
		}
		lines = append(lines, line)
	}
	b := make([]byte, 0, min(size, maxText))
	for i := len(lines) - 1; i >= 0; i-- {
		b = append(b, lines[i]...)
		if i > 0 {
			b = append(b, '\n')
		}
	}
	return string(b), len(lines)
}

// appendLine appends the line of an entry, with its time relative to now:
//
//	-2.104s request tools/call add 1.2ms id=41 sent=203 received=96 trace=4bf92f3577b34da6a3ce929d0e0e4736
//	-0.302s request tools/call crash pending id=42 trace=00f067aa0ba902b7a3ce929d0e0e4736
//	-0.001s transition ready to backoff: transport_down after 12.3s epoch=1 attempt=0
func (e *Entry) appendLine(b []byte, now time.Duration) []byte {
	s := e.show(time.Time{})
	b = strconv.AppendFloat(b, (e.At - now).Seconds(), 'f', 3, 64)
	b = append(b, "s "...)
	b = append(b, s.Kind...)
	word := func(text string) {
		if text != "" {
			b = append(append(b, ' '), text...)
		}
	}
	number := func(name string, n int64) {
		if n != 0 {
			b = strconv.AppendInt(append(append(append(b, ' '), name...), '='), n, 10)
		}
	}
	if e.Kind == Notification || e.Kind == Violation {
		word(s.Direction)
	}
	word(s.Method)
	word(s.Target)
	if s.From != "" {
		word(s.From + " to " + s.To + ":")
	}
	if s.Pending {
		word("pending")
	}
	if s.Failed {
		word("failed:")
	}
	if s.Closed {
		word("closed")
	}
	word(s.Reason)
	if s.Elapsed > 0 {
		if e.Kind == Transition {
			word("after")
		}
		word(s.Elapsed.Round(elapsedDigits(s.Elapsed)).String())
	}
	if s.ID != "" {
		word("id=" + s.ID)
	}
	number("sent", int64(s.BytesSent))
	number("received", int64(s.BytesReceived))
	number("retries", int64(s.Retries))
	number("round", int64(s.Round))
	number("epoch", s.Epoch)
	number("attempt", s.Attempt)
	number("size", s.Size)
	number("limit", s.Limit)
	number("pid", s.PID)
	if e.Kind == Exit {
		word("code=" + strconv.FormatInt(s.Code, 10))
	}
	number("times", int64(s.Count))
	if s.TraceID != "" {
		word("trace=" + s.TraceID)
	}
	return b
}

// elapsedDigits returns the precision of a duration in the text. The duration keeps three or more digits.
func elapsedDigits(d time.Duration) time.Duration {
	unit := time.Duration(1)
	for d/unit >= 10_000 {
		unit *= 10
	}
	return unit
}
