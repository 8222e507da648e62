package inspectview

import (
	"bytes"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"sync"

	"github.com/mcpotel/mcpotel/internal/recording"
	"github.com/mcpotel/mcpotel/mcp"
)

// maxRecorded bounds the bytes of the recording that a Session keeps. The oldest messages are dropped first.
const maxRecorded = 16 << 20

// recorded keeps the newest lines of a recording. The recorder writes one line in each call.
type recorded struct {
	mu     sync.Mutex
	header []byte   // the first line
	lines  [][]byte // lines of the messages, the oldest first
	room   int      // bytes of lines
}

func (r *recorded) Write(line []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.header == nil {
		r.header = bytes.Clone(line)
		return len(line), nil
	}
	r.lines = append(r.lines, bytes.Clone(line))
	r.room += len(line)
	drop := 0
	for r.room > maxRecorded {
		r.room -= len(r.lines[drop])
		r.lines[drop] = nil
		drop++
	}
	r.lines = r.lines[drop:]
	return len(line), nil
}

// file returns the recording so far, without the answers to requests that are no longer kept.
func (r *recorded) file() (*recording.File, error) {
	r.mu.Lock()
	first, lines := r.header, slices.Clone(r.lines)
	r.mu.Unlock()
	header, err := recording.ParseHeader(first)
	f, asked := &recording.File{Header: header}, map[int]bool{}
	for _, line := range lines {
		e, _, failed := recording.ParseLine(line)
		if failed != nil {
			err = failed
		}
		if e != nil && (!e.Answers() || asked[e.Request]) {
			f.Entries = append(f.Entries, e)
			asked[e.Request] = true
		}
	}
	return f, err
}

// opening are the methods that a client uses before it calls a tool.
var opening = []string{mcp.MethodInitialize, mcp.NotificationInitialized, mcp.MethodDiscover, mcp.MethodListTools,
	mcp.MethodListPrompts, mcp.MethodListResources, mcp.MethodListResourceTemplates}

// ofTrace returns the entries of one operation, and the entries that open its session. It returns none if the messages
// of the operation are not kept, or if the operation has not ended.
func ofTrace(all []*recording.Entry, traceID string) (found []*recording.Entry) {
	mine := func(e *recording.Entry) bool { return e.TraceID == traceID }
	first := slices.IndexFunc(all, mine)
	if first < 0 || all[first].Kind != recording.Request {
		return nil
	}
	last := first
	for i, e := range all {
		if mine(e) && e.Answers() {
			last = i
		}
	}
	if last == first {
		return nil
	}
	for i, e := range all {
		within := i >= first && i <= last && (mine(e) || e.TraceID == "")
		if e.Session == all[first].Session && (within || i < first && slices.Contains(opening, e.Method)) {
			found = append(found, e)
		}
	}
	return found
}

func (s *Session) callRecording(w http.ResponseWriter, r *http.Request) error {
	o, ok := s.operation(number(r))
	if !ok {
		return errGone
	}
	f, err := s.recorded.file()
	if err != nil {
		return err
	}
	if f.Entries = ofTrace(f.Entries, o.TraceID); f.Entries == nil {
		return &httpError{http.StatusNotFound, fmt.Sprintf("The messages of this call are not recorded: the call has not "+
			"ended, or its messages are no longer among the newest %d MiB.", maxRecorded>>20)}
	}
	return download(w, r, f, o.Name)
}

func (s *Session) sessionRecording(w http.ResponseWriter, r *http.Request) error {
	f, err := s.recorded.file()
	if err != nil {
		return err
	}
	return download(w, r, f, "session")
}

// download responds with a recording as a file.
func download(w http.ResponseWriter, r *http.Request, f *recording.File, name string) error {
	w.Header().Set("Content-Type", "application/x-ndjson")
	w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{
		"filename": cut(maxName, name) + ".ndjson"}))
	out := recording.NewWriter(w, f.Header, 0, nil)
	for _, e := range f.Entries {
		out.Write(e)
	}
	return out.Close(r.Context())
}
