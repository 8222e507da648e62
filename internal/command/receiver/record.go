package receiver

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"sync"

	"github.com/mcpotel/mcpotel/internal/visible"
)

// A Sink delivers messages to people. It is safe for concurrent use.
type Sink interface {
	// Name returns the name of the sink for error messages. It contains no secret.
	Name() string

	// Deliver delivers a message. It returns nil only if the receiver of the sink has the message.
	Deliver(ctx context.Context, m *Message) error
}

// record returns the message as JSON on one line.
func record(m *Message) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(m); err != nil {
		return nil, err
	}
	return visible.JSON(b.Bytes()), nil
}

// Records writes each message as a record: a JSON object on a line of its own.
type Records struct {
	mu sync.Mutex
	w  io.Writer // guarded by mu
}

// NewRecords returns a sink that writes to w.
func NewRecords(w io.Writer) *Records { return &Records{w: w} }

// Name implements [Sink].
func (r *Records) Name() string { return "log" }

// Deliver implements [Sink].
func (r *Records) Deliver(_ context.Context, m *Message) error {
	line, err := record(m)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	_, err = r.w.Write(line)
	return err
}

// File appends each message to a file as a record. It opens the file for each message, so the file may be moved at any
// time.
type File struct {
	path string
	mu   sync.Mutex // held while the file is written
}

// NewFile returns a sink for the file at path. It creates the file, readable for the owner only.
func NewFile(path string) (*File, error) {
	f := &File{path: path}
	return f, f.append(nil)
}

// Name implements [Sink].
func (f *File) Name() string { return "file" }

// Deliver implements [Sink].
func (f *File) Deliver(_ context.Context, m *Message) error {
	line, err := record(m)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.append(line)
}

func (f *File) append(line []byte) error {
	file, err := os.OpenFile(f.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(line)
	if closed := file.Close(); err == nil {
		err = closed
	}
	return err
}
