package recording

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/mcpotel/mcpotel/internal/unit"
)

// File is a parsed recording.
type File struct {
	Header
	Entries []*Entry
	// Cut reports that the last line is missing, because the recording program was killed. The entries are valid, but
	// incomplete.
	Cut bool
	Why string // why the recording ended before the last message; empty if it is complete
}

// maxSize bounds the size of a file, in bytes: the default limit, and room for the last line.
const maxSize = DefaultLimit + 1<<20

// Open reads the recording at a path. Errors name the path, the line and the problem.
func Open(path string) (*File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxSize+1))
	if err == nil && len(text) > maxSize {
		err = fmt.Errorf("the file is larger than %s", unit.Size(maxSize))
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	r, err := Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

// Parse parses a recording. It ignores unknown members.
func Parse(text []byte) (*File, error) {
	first, rest, whole := bytes.Cut(text, []byte("\n"))
	f := &File{Cut: true}
	var err error
	if f.Header, err = ParseHeader(first); err != nil {
		return nil, err
	}
	open := requests{}
	for number := 2; whole && len(rest) > 0; number++ {
		var one []byte
		one, rest, whole = bytes.Cut(rest, []byte("\n"))
		if !f.Cut {
			return nil, fmt.Errorf(`line %d: more lines after the line with "end"`, number)
		}
		err := f.add(one, open)
		if err != nil && !whole && !json.Valid(one) {
			break // the last line was cut
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
	}
	return f, nil
}

// ParseHeader parses the first line of a recording.
func ParseHeader(line []byte) (h Header, err error) {
	if err := json.Unmarshal(line, &h); err != nil || h.Version == 0 {
		return h, errors.New(`line 1: not a recording of "mcpotel proxy --record": ` +
			`"mcpotel_recording" is missing in the first line`)
	}
	if h.Version != Version {
		return h, fmt.Errorf("line 1: the recording has version %d, but this program reads version %d", h.Version, Version)
	}
	return h, nil
}

// add parses a line and adds its entry.
func (f *File) add(text []byte, open requests) error {
	e, end, err := ParseLine(text)
	if err != nil {
		return err
	}
	if end != nil {
		f.Cut, f.Why = false, end.Why
		return nil
	}
	if err := open.check(e, f.Content); err != nil {
		return err
	}
	f.Entries = append(f.Entries, e)
	return nil
}

// ParseLine parses a line after the first: the entry of a message, or the end of the recording.
func ParseLine(text []byte) (*Entry, *End, error) {
	var l struct {
		End
		Entry
		Params json.RawMessage `json:"params"`
		Result json.RawMessage `json:"result"`
		Error  json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal(text, &l); err != nil {
		return nil, nil, plain(err)
	}
	if err := Exact(text, lineMembers...); err != nil {
		return nil, nil, err
	}
	if l.End.End {
		return nil, &l.End, nil
	}
	e := &l.Entry
	switch contentOf[e.Kind] {
	case "":
		return nil, nil, fmt.Errorf("kind is %q, want request, notification, result, error or cancelled", e.Kind)
	case "params":
		e.Content = l.Params
	case "result":
		e.Content = l.Result
	case "error":
		e.Content = l.Error
	}
	return e, nil, nil
}

// plain describes an error of encoding/json without the names of Go types.
func plain(err error) error {
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && e.Field != "" {
		return fmt.Errorf("%s has the wrong type %s", e.Field[lastDot(e.Field):], e.Value)
	}
	return fmt.Errorf("not a JSON object: %w", err)
}

func lastDot(s string) int { return bytes.LastIndexByte([]byte(s), '.') + 1 }

// requests are the unanswered requests of a file, by number.
type requests map[int]*Entry

// check validates an entry against the entries before it. content reports whether the recording has content.
func (r requests) check(e *Entry, content bool) error {
	switch {
	case e.From != HostSide && e.From != ServerSide:
		return fmt.Errorf("from is %q, want host or server", e.From)
	case e.Session < 1:
		return errors.New("session is missing, or below 1")
	case e.Method == "":
		return errors.New("method is missing")
	case e.Kind == Notification:
		return nil
	case e.Request < 1:
		return errors.New("request is missing, or below 1")
	case e.Kind == Request:
		if r[e.Request] != nil {
			return fmt.Errorf("request %d occurs twice", e.Request)
		}
		r[e.Request] = e
		return nil
	}
	asked := r[e.Request]
	delete(r, e.Request)
	switch {
	case asked == nil:
		return fmt.Errorf("no unanswered request %d before this line", e.Request)
	case asked.Session != e.Session:
		return fmt.Errorf("request %d belongs to session %d", e.Request, asked.Session)
	case (asked.From == e.From) != (e.Kind == Cancelled):
		return fmt.Errorf("request %d was sent by the %s, so this entry has the wrong side", e.Request, asked.From)
	case content && e.Kind != Cancelled && e.Content == nil:
		return fmt.Errorf("%s is missing, although the recording has content", contentOf[e.Kind])
	}
	return nil
}
