package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/pflag"

	"github.com/mcpotel/mcpotel/internal/visible"
	"github.com/mcpotel/mcpotel/mcpproxy"
)

// recorder holds the flags for a recording.
type recorder struct {
	path    string // path of the file; empty for no recording
	content bool
	limit   int64 // in MiB
	out     *mcpproxy.Recorder
	file    *os.File
}

func (r *recorder) flags(f *pflag.FlagSet) {
	f.StringVar(&r.path, "record", "", "record the messages in this new `FILE`, or in a new file of this directory: a "+
		"line of JSON for each message, with methods, names, sizes, durations, errors and trace ids, but no content")
	f.BoolVar(&r.content, "record-content", false, "also record arguments and results, so that \"mcpotel mock\" can "+
		"serve them. Values with names such as password or token are replaced, and in a proxy those that --policy redacts")
	f.Int64Var(&r.limit, "record-limit", 0, "end the recording when the file has this many `MIB`. By default, "+
		"1024")
}

// open creates the file and its recorder; nil without --record.
func (r *recorder) open(say func(string)) (*mcpproxy.Recorder, error) {
	switch {
	case r.path == "" && (r.content || r.limit != 0):
		return nil, misuse("no file: --record-content and --record-limit need --record FILE")
	case r.path == "":
		return nil, nil
	case r.limit < 0 || r.limit > 1024:
		return nil, misuse("--record-limit must be between 1 and 1024 MiB")
	}
	if info, err := os.Stat(r.path); err == nil && info.IsDir() {
		name := fmt.Sprintf("%s-%d.ndjson", time.Now().UTC().Format("20060102T150405.000Z"), os.Getpid())
		r.path = filepath.Join(r.path, name)
	}
	var err error
	r.file, err = os.OpenFile(r.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil, misuse("--record: %s already exists; remove it, give another name, or give a directory, in which each "+
			"run writes a new file", r.path)
	}
	if err != nil {
		return nil, misuse("--record: %w", err)
	}
	r.out = mcpproxy.NewRecorder(r.file, &mcpproxy.RecorderOptions{
		Content: r.content, Limit: r.limit << 20,
		Stopped: func(err error) {
			say(visible.Line(fmt.Sprintf("mcpotel: recording in %s has stopped: %v; messages still pass",
				r.path, err)))
		},
	})
	return r.out, nil
}

// close flushes and closes the recording.
func (r *recorder) close() error {
	if r.out == nil {
		return nil
	}
	_ = r.out.Close() // errors have been reported through say
	return r.file.Close()
}

// discard removes the file, to which nothing was written.
func (r *recorder) discard() {
	if r.file != nil {
		_ = os.Remove(r.path) // on failure, an empty file remains
	}
}
