package main

import (
	"context"
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

// recorder is what the flags of a command say about a recording.
type recorder struct {
	path    string // empty for none
	content bool
	limit   int64 // in MiB
	out     *mcpproxy.Recorder
	file    *os.File
}

func (r *recorder) flags(f *pflag.FlagSet) {
	f.StringVar(&r.path, "record", "", "write what passes to this new `FILE`, or to one in this directory, a line of "+
		"JSON for each message: methods, names, sizes, durations, errors and trace ids, and no content")
	f.BoolVar(&r.content, "record-content", false, "record arguments and results, too, so that \"mcpotel mock\" can "+
		"serve them. What --policy redacts, and values with names such as password or token, are replaced")
	f.Int64Var(&r.limit, "record-limit", 0, "end the recording when the file has this many `MIB`. Unless it is given, "+
		"1024")
}

// open makes the file and what writes to it, nil for nothing.
func (r *recorder) open(say func(string)) (*mcpproxy.Recorder, error) {
	switch {
	case r.path == "" && (r.content || r.limit != 0):
		return nil, misuse("no file: --record-content and --record-limit are of --record FILE")
	case r.path == "":
		return nil, nil
	case r.limit < 0 || r.limit > 1024:
		return nil, misuse("--record-limit is between 1 and 1024 MiB")
	}
	if info, err := os.Stat(r.path); err == nil && info.IsDir() {
		name := fmt.Sprintf("%s-%d.ndjson", time.Now().UTC().Format("20060102T150405.000Z"), os.Getpid())
		r.path = filepath.Join(r.path, name)
	}
	var err error
	r.file, err = os.OpenFile(r.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil, misuse("--record: %s is there already; remove it, or give another name, or a directory, in which each "+
			"run has a file of its own", r.path)
	}
	if err != nil {
		return nil, misuse("--record: %w", err)
	}
	r.out = mcpproxy.NewRecorder(r.file, &mcpproxy.RecorderOptions{
		Content: r.content, Limit: r.limit << 20,
		Stopped: func(err error) {
			say(visible.Line(fmt.Sprintf("mcpotel: nothing more is recorded in %s: %v; messages pass as before",
				r.path, err)))
		},
	})
	return r.out, nil
}

// close writes what is left.
func (r *recorder) close(ctx context.Context) error {
	if r.out == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	_ = r.out.Close(ctx) // it has been told
	return r.file.Close()
}

// discard removes a file to which nothing will be written.
func (r *recorder) discard() {
	if r.file != nil {
		_ = os.Remove(r.path) // what is left of it is empty
	}
}
