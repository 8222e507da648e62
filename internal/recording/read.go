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

// File is what a recording has.
type File struct {
	Header
	Entries []*Entry
	// Cut says that the file does not end as it should, because the program that wrote it was killed: what it has is
	// right, and there was more.
	Cut bool
	Why string // the recording ended before the last message; empty if it did not
}

// maxSize is how much of a file is read: a little above the default limit, for the last line.
const maxSize = DefaultLimit + 1<<20

// Open reads the file at a path. An error names it, the line and what is wrong there.
func Open(path string) (*File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxSize+1))
	if err == nil && len(text) > maxSize {
		err = fmt.Errorf("it has more than %s", unit.Size(maxSize))
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

// Parse reads a recording. Members that it does not know are passed over.
func Parse(text []byte) (*File, error) {
	first, rest, whole := bytes.Cut(text, []byte("\n"))
	f := &File{Cut: true}
	if err := json.Unmarshal(first, &f.Header); err != nil || f.Version == 0 {
		return nil, errors.New(`line 1: this is no recording of "mcpotel proxy --record": ` +
			`its first line has no "mcpotel_recording"`)
	}
	if f.Version != Version {
		return nil, fmt.Errorf("line 1: the recording is of version %d, and this program reads version %d", f.Version,
			Version)
	}
	open := requests{}
	for number := 2; whole && len(rest) > 0; number++ {
		var one []byte
		one, rest, whole = bytes.Cut(rest, []byte("\n"))
		if !f.Cut {
			return nil, fmt.Errorf(`line %d: there is more behind the line with "end"`, number)
		}
		err := f.add(one, open)
		if err != nil && !whole && !json.Valid(one) {
			break // it was cut
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
	}
	return f, nil
}

// add reads a line.
func (f *File) add(text []byte, open requests) error {
	var l struct {
		End
		Entry
		Params json.RawMessage `json:"params"`
		Result json.RawMessage `json:"result"`
		Error  json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal(text, &l); err != nil {
		return plain(err)
	}
	if err := Exact(text, lineMembers...); err != nil {
		return err
	}
	if l.End.End {
		f.Cut, f.Why = false, l.Why
		return nil
	}
	e := &l.Entry
	switch contentOf[e.Kind] {
	case "":
		return fmt.Errorf("kind is %q, want request, notification, result, error or cancelled", e.Kind)
	case "params":
		e.Content = l.Params
	case "result":
		e.Content = l.Result
	case "error":
		e.Content = l.Error
	}
	if err := open.check(e, f.Content); err != nil {
		return err
	}
	f.Entries = append(f.Entries, e)
	return nil
}

// plain says what is wrong with a line without what package json says of Go's types.
func plain(err error) error {
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && e.Field != "" {
		return fmt.Errorf("%s is a %s, which it cannot be", e.Field[lastDot(e.Field):], e.Value)
	}
	return fmt.Errorf("no JSON object: %w", err)
}

func lastDot(s string) int { return bytes.LastIndexByte([]byte(s), '.') + 1 }

// requests are those of a file that have no answer yet, by number.
type requests map[int]*Entry

// check says what is wrong with an entry, behind those before it.
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
			return fmt.Errorf("request %d is there already", e.Request)
		}
		r[e.Request] = e
		return nil
	}
	asked := r[e.Request]
	delete(r, e.Request)
	switch {
	case asked == nil:
		return fmt.Errorf("there is no request %d before it that waits for an answer", e.Request)
	case asked.Session != e.Session:
		return fmt.Errorf("request %d is of session %d", e.Request, asked.Session)
	case (asked.From == e.From) != (e.Kind == Cancelled):
		return fmt.Errorf("request %d is of the %s, and so is not this", e.Request, asked.From)
	case content && e.Kind != Cancelled && e.Content == nil:
		return fmt.Errorf("%s is missing, and the recording has content", contentOf[e.Kind])
	}
	return nil
}
