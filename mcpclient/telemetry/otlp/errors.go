package otlp

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

const (
	errorBurst  = 5
	errorRefill = 10 * time.Second
)

// errorLines is the [otel.ErrorHandler] of a process that Setup has configured. It writes plain lines: at most
// errorBurst at once, and then one each errorRefill. The next line reports how many were suppressed. errorLines never
// writes to a slog.Logger: an export error as a log record would be exported, fail, and become another log record.
type errorLines struct {
	now func() time.Time

	mu         sync.Mutex
	w          io.Writer // guarded by mu
	used       int       // guarded by mu; lines written since the allowance was last full
	since      time.Time // guarded by mu; time from which used lines are refunded
	suppressed int       // guarded by mu
}

func (l *errorLines) Handle(err error) {
	if err == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.allow() {
		l.suppressed++
		return
	}
	more := ""
	if l.suppressed > 0 {
		more = fmt.Sprintf(" (%d more not shown)", l.suppressed)
		l.suppressed = 0
	}
	text := strings.ReplaceAll(printable(err.Error()), "\n", "; ")
	fmt.Fprintf(l.w, "opentelemetry: %s%s\n", text, more)
}

// allow takes one line from the allowance. l.mu is held.
func (l *errorLines) allow() bool {
	now := l.now()
	back := min(int(now.Sub(l.since)/errorRefill), l.used)
	l.used -= back
	l.since = l.since.Add(time.Duration(back) * errorRefill)
	if l.used == 0 {
		l.since = now
	}
	if l.used == errorBurst {
		return false
	}
	l.used++
	return true
}
