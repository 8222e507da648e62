package recordingdiff

import (
	"github.com/mcpotel/mcpotel/internal/recording"
)

// Options configures Compare. The zero value of each field is its default.
type Options struct {
	// Latency is the factor by which the median duration of a method, tool or prompt may grow. Zero means no limit.
	Latency float64
	// Ignore lists paths in params, results and errors that are not compared, for example .structuredContent.time.
	// A path includes everything below it; [*] matches any element.
	Ignore []string
}

// Kinds of changes.
const (
	Missing = "missing" // only the first recording has the request
	Added   = "added"   // only the second recording has the request
	Order   = "order"   // the requests are the same, in another order
	Params  = "params"  // the params of the request differ
	// the kind of the outcome differs: a result, an error code, a tool error, a cancellation, or no answer
	Outcome = "outcome"
	Content = "content" // the content of the result or error differs
	Tools   = "tools"   // the definitions of tools differ
	// the sizes of two results without content differ by more than a factor of 2, and by at least 256 bytes
	Size          = "size"
	Notifications = "notifications" // only one recording has notifications of this method
	Latency       = "latency"       // the median has grown by more than the factor Options.Latency, and by at least 1 ms
)

// Change is one difference.
type Change struct {
	Kind    string                 `json:"kind"`
	Session int                    `json:"session,omitempty"` // number of the session, from 1
	From    recording.Side         `json:"from,omitempty"`
	Method  string                 `json:"method,omitempty"`
	Name    string                 `json:"name,omitempty"`
	A       int                    `json:"a_seq,omitempty"` // Seq of the request in the first recording
	B       int                    `json:"b_seq,omitempty"` // Seq of the request in the second recording
	Text    string                 `json:"text"`
	Where   []recording.Difference `json:"where,omitempty"` // at most 10
}

// Duration compares the median durations of the answered requests of one method and name.
type Duration struct {
	Method string `json:"method"`
	Name   string `json:"name,omitempty"`
	Count  int    `json:"count"` // requests in both recordings together
	AUS    int64  `json:"a_us"`  // median in the first recording, in microseconds
	BUS    int64  `json:"b_us"`  // median in the second recording, in microseconds
}

// Report is the result of a comparison.
type Report struct {
	Same      bool       `json:"same"`
	Compared  int        `json:"compared"` // number of paired requests
	Missing   int        `json:"missing"`  // requests that only the first recording has
	Added     int        `json:"added"`    // requests that only the second recording has
	Changes   []Change   `json:"changes"`  // at most 1,000
	More      int        `json:"more"`     // number of changes that are not in Changes
	Durations []Duration `json:"durations"`
	Notes     []string   `json:"notes"` // parts that could not be compared
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
