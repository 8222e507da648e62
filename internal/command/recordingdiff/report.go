package recordingdiff

import (
	"github.com/mcpotel/mcpotel/internal/recording"
)

// Options are those of a comparison. The zero value of each field means its default.
type Options struct {
	// Latency is the factor by which the median duration of a method, tool or prompt may grow. Zero means by any.
	Latency float64
	// Ignore are paths in params, results and errors, such as .structuredContent.time, that are not compared, nor is what
	// is below them; [*] is any element.
	Ignore []string
}

// What is different.
const (
	Missing       = "missing"       // only the first recording has the request
	Added         = "added"         // only the second has it
	Order         = "order"         // the requests are the same, in another order
	Params        = "params"        // the request was made with other params
	Outcome       = "outcome"       // a result, an error with its code, an error of a tool, or nothing
	Content       = "content"       // the result or the error has another content
	Tools         = "tools"         // the definitions of the tools
	Size          = "size"          // a result without content is twice as large or half, by 256 bytes at least
	Notifications = "notifications" // only one has notifications of this method
	Latency       = "latency"       // the median has grown by more than Options.Latency, and 1 ms
)

// Change is one difference.
type Change struct {
	Kind    string                 `json:"kind"`
	Session int                    `json:"session,omitempty"` // in their order, from 1 on
	From    recording.Side         `json:"from,omitempty"`
	Method  string                 `json:"method,omitempty"`
	Name    string                 `json:"name,omitempty"`
	A       int                    `json:"a_seq,omitempty"` // the request in the first recording
	B       int                    `json:"b_seq,omitempty"` // and in the second
	Text    string                 `json:"text"`
	Where   []recording.Difference `json:"where,omitempty"` // 10 at most
}

// Duration is how long the requests of one method and name took, in the median of those that were answered.
type Duration struct {
	Method string `json:"method"`
	Name   string `json:"name,omitempty"`
	Count  int    `json:"count"` // in both together
	AUS    int64  `json:"a_us"`  // microseconds
	BUS    int64  `json:"b_us"`
}

// Report is what a comparison finds.
type Report struct {
	Same      bool       `json:"same"`
	Compared  int        `json:"compared"` // requests that both have
	Missing   int        `json:"missing"`  // requests that only the first has
	Added     int        `json:"added"`    // and only the second
	Changes   []Change   `json:"changes"`  // 1,000 at most
	More      int        `json:"more"`     // changes beyond those
	Durations []Duration `json:"durations"`
	Notes     []string   `json:"notes"` // what could not be compared
}

const (
	maxChanges     = 1000
	maxDifferences = 10
)

func (r *Report) add(c Change) {
	if len(r.Changes) == maxChanges {
		r.More++
		return
	}
	r.Changes = append(r.Changes, c)
}
