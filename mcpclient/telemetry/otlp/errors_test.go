package otlp

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestErrorLinesAreLimitedAndCounted(t *testing.T) {
	var b bytes.Buffer
	now := time.Date(2026, 7, 28, 0, 0, 0, 0, time.UTC)
	l := &errorLines{now: func() time.Time { return now }, w: &b}
	burst := func(n int) (lines []string) {
		b.Reset()
		for i := range n {
			l.Handle(fmt.Errorf("error %d", i))
		}
		return strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	}
	if got := burst(8); len(got) != errorBurst || got[4] != "opentelemetry: error 4" {
		t.Errorf("8 errors at once: %q are shown, want the first %d", got, errorBurst)
	}
	now = now.Add(errorRefill - 1)
	if got := burst(1); got[0] != "" {
		t.Errorf("just before the refill: %q is shown, want nothing", got)
	}
	now = now.Add(1)
	if got := burst(2); len(got) != 1 || got[0] != "opentelemetry: error 0 (4 more not shown)" {
		t.Errorf("after the refill: %q is shown, want one line with the count 4", got)
	}
	now = now.Add(time.Hour)
	if got := burst(100); len(got) != errorBurst || !strings.HasSuffix(got[0], "(1 more not shown)") ||
		got[1] != "opentelemetry: error 1" {
		t.Errorf("after an hour: %q are shown, want %d lines, the first with the count 1", got, errorBurst)
	}
}

func TestErrorIsPrintedAsOneEscapedLine(t *testing.T) {
	var b bytes.Buffer
	l := &errorLines{now: time.Now, w: &b}
	l.Handle(nil)
	l.Handle(errors.Join(errors.New("one\x1b[2J"), errors.New("two")))
	if want := "opentelemetry: one\\u001b[2J; two\n"; b.String() != want {
		t.Errorf("line = %q, want %q", b.String(), want)
	}
}
