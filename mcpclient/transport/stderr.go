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
	maxLine  = 64 << 10 // a longer line of standard error comes in pieces
	keptLine = 1 << 10  // so much of a line is remembered
	maxKept  = 20       // and of so many lines
)

// lines takes apart what a child writes to its standard error: each line goes to the logger and to the callback, and
// the last ones are kept.
type lines struct {
	logger   *slog.Logger
	callback func(line string) // may be nil
	config   *Config           // hears of failures; may be nil

	mu   sync.Mutex
	kept [maxKept]string // a ring
	n    int             // lines ever kept
}

// readAll reads r to its end.
func (l *lines) readAll(r io.Reader) {
	var (
		chunk  = make([]byte, 1<<10) // small: it lives as long as the child
		line   []byte
		pieces bool // the line that line is the rest of has begun in a piece before
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

// shrink empties line and gives up its memory if that has become large.
func shrink(line []byte) []byte {
	if cap(line) > keptLine {
		return nil
	}
	return line[:0]
}

// emit hands out one line.
func (l *lines) emit(b []byte) {
	line := strings.ToValidUTF8(string(bytes.TrimSuffix(b, []byte{'\r'})), "\uFFFD")
	l.keep(line)
	_ = l.config.guard("Stderr", func() { // what becomes of that, the child must not be kept from writing
		record(l.logger, names.EventMCPClientProcessStderr, slog.String(names.KeyMCPClientProcessStderrLine, line))
		if l.callback != nil {
			l.callback(line)
		}
	})
}

// keep remembers the beginning of a line that is not blank.
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

// latest returns the latest line, empty if there is none.
func (l *lines) latest() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.n == 0 {
		return ""
	}
	return l.kept[(l.n-1)%maxKept]
}

// last returns the lines that were kept, the latest last.
func (l *lines) last() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var last []string
	for i := max(0, l.n-maxKept); i < l.n; i++ {
		last = append(last, l.kept[i%maxKept])
	}
	return last
}
