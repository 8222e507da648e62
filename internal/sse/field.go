package sse

import (
	"bytes"
	"time"

	"github.com/mcpotel/mcpotel/internal/oversize"
)

// maxField is the longest accepted line of a field other than data.
const maxField = 16 << 10

// field processes one line.
func (r *Reader) field(line []byte) {
	name, value, colon := bytes.Cut(line, []byte(":"))
	if !colon {
		value = line[len(line):] // empty, but not nil
	}
	value = trim(value)
	if string(name) == "data" {
		r.addData(value)
		return
	}
	if len(line) > maxField {
		return
	}
	switch string(name) {
	case "id":
		if bytes.IndexByte(value, 0) < 0 {
			r.event.ID, r.event.HasID = r.intern(value), true
		}
	case "event":
		r.event.Name, r.named = nameOf(value), true
	case "retry":
		if d, ok := milliseconds(value); ok {
			r.event.Retry = d
		}
	}
}

// trim removes one leading space from a value.
func trim(value []byte) []byte {
	if len(value) > 0 && value[0] == ' ' {
		return value[1:]
	}
	return value
}

// intern returns the id as a string, without an allocation if it equals the last id.
func (r *Reader) intern(id []byte) string {
	if string(id) == r.lastID {
		return r.lastID
	}
	return string(id)
}

// nameOf returns the name as a string, without an allocation for the names that MCP uses.
func nameOf(name []byte) string {
	switch string(name) {
	case "message":
		return "message"
	case "endpoint":
		return "endpoint"
	}
	return string(name)
}

// milliseconds parses the value of a retry field, which may have digits only. It limits the result to one day.
func milliseconds(value []byte) (time.Duration, bool) {
	const most = 24 * time.Hour
	var d time.Duration
	for _, c := range value {
		if c < '0' || c > '9' {
			return 0, false
		}
		d = min(10*d+time.Duration(c-'0')*time.Millisecond, most)
	}
	return d, len(value) > 0
}

// addData adds a line to the data.
func (r *Reader) addData(value []byte) {
	joined := r.event.HasData
	switch r.event.HasData = true; {
	case r.over != nil || !r.fits(value, joined):
		r.overflow(value, joined)
	case joined:
		r.own()
		r.data = append(append(r.data, '\n'), value...)
	default:
		r.held = value
	}
}

// fits reports whether the data plus one more line are within the limit. joined is set unless the line is the first.
func (r *Reader) fits(value []byte, joined bool) bool {
	size := len(r.held) + len(r.data) + len(value)
	if joined {
		size++ // line feed between the lines
	}
	return size <= r.limit
}

// overflow adds a line to data that exceed the limit, with or without this line.
func (r *Reader) overflow(value []byte, joined bool) {
	if r.over == nil {
		r.over = new(oversize.Ends)
		r.over.Write(r.held)
		r.over.Write(r.data)
		r.held, r.data = nil, nil
	}
	if joined {
		r.over.Write([]byte{'\n'})
	}
	r.over.Write(value)
	if !r.skip {
		r.fail(r.over.Over(r.limit, false))
	}
}

// dispatch ends the event and returns it, or an error if the event was too large. It reports false for an event that
// has neither data, nor an id, nor a retry time.
func (r *Reader) dispatch() (Event, bool, error) {
	r.own()
	e, over := r.event, r.over
	e.Data = r.data
	r.event, r.named, r.data, r.over = Event{Retry: -1}, false, nil, nil
	if e.HasID {
		r.lastID = e.ID
	}
	if over != nil {
		return r.event, true, over.Over(r.limit, true)
	}
	return e, e.HasData || e.HasID || e.Retry >= 0, nil
}
