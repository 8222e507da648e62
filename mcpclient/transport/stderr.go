package transport

import (
	"bytes"
	"io"
	"log/slog"
	"strings"
	"sync"

	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

const (
	maxLine  = 64 << 10 // bytes after which a line of standard error is split
	keptLine = 1 << 10  // bytes of a line that are kept
	maxKept  = 20       // lines that are kept
)

// lines splits a child's standard error into lines. It passes each line to the logger and to the callback, and
// keeps the last lines.
type lines struct {
	logger   *slog.Logger
	callback func(line string) // may be nil
	config   *Config           // for Config.Failed; may be nil

	mu   sync.Mutex
	kept [maxKept]string // ring of the last lines
	n    int             // number of lines that were put into kept so far
}

// readAll reads r to its end.
func (l *lines) readAll(r io.Reader) {
	var (
		chunk  = make([]byte, 1<<10) // small, because it lives as long as the child
		line   []byte
		pieces bool // the current line is longer than maxLine and was emitted in part
	)
	for {
		n, err := r.Read(chunk)
		for b := chunk[:n]; len(b) > 0; {
			part, rest, ended := bytes.Cut(b, []byte{'\n'})
			room := maxLine - len(line)
			if len(part) > room {
				part, rest, ended = b[:room], b[room:], false
			}
			line = append(line, part...)
			switch {
			case ended:
				if len(line) > 0 || !pieces {
					l.emit(line)
				}
				line, pieces = shrink(line), false
			case len(line) == maxLine:
				l.emit(line)
				line, pieces = line[:0], true
			}
			b = rest
		}
		if err != nil {
			if len(line) > 0 {
				l.emit(line)
			}
			return
		}
	}
}

// shrink empties line and frees its memory if it is large.
func shrink(line []byte) []byte {
	if cap(line) > keptLine {
		return nil
	}
	return line[:0]
}

// emit passes on one line.
func (l *lines) emit(b []byte) {
	line := strings.ToValidUTF8(string(bytes.TrimSuffix(b, []byte{'\r'})), "\uFFFD")
	l.keep(line)
	_ = l.config.guard("Stderr", func() { // a failure must not stop the reading of standard error
		record(l.logger, names.EventMCPClientProcessStderr, slog.String(names.KeyMCPClientProcessStderrLine, line))
		if l.callback != nil {
			l.callback(line)
		}
	})
}

// keep keeps the beginning of a line that is not blank.
func (l *lines) keep(line string) {
	if strings.TrimSpace(line) == "" {
		return
	}
	if len(line) > keptLine {
		line = strings.ToValidUTF8(strings.Clone(line[:keptLine]), "")
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kept[l.n%maxKept] = line
	l.n++
}

// latest returns the latest kept line, empty if there is none.
func (l *lines) latest() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.n == 0 {
		return ""
	}
	return l.kept[(l.n-1)%maxKept]
}

// last returns the kept lines, the latest last.
func (l *lines) last() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var last []string
	for i := max(0, l.n-maxKept); i < l.n; i++ {
		last = append(last, l.kept[i%maxKept])
	}
	return last
}
