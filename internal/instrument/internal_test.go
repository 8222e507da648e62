package instrument

import (
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

func TestOnlyFiveCodesAreNoErrorOfTheReceiver(t *testing.T) {
	forgiven := map[int64]bool{-32700: true, -32600: true, -32601: true, -32602: true, -32002: true}
	for code := int64(math.MinInt16); code <= math.MaxInt16; code++ {
		if !isError(telemetry.Sent, code) {
			t.Errorf("code %d is an error of the sender", code)
		}
		if got, want := isError(telemetry.Received, code), !forgiven[code]; got != want {
			t.Errorf("code %d is an error of the receiver: got %v, want %v", code, got, want)
		}
	}
}

func TestTruncateKeepsWholeCharacters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "s")
		limit := rapid.IntRange(0, 20).Draw(t, "limit")
		got := truncate(s, limit)
		if !strings.HasPrefix(s, got) || len(got) > limit || !utf8.ValidString(got) {
			t.Fatalf("truncate(%q, %d): got %q, want valid text of at most that length", s, limit, got)
		}
		if len(s) > limit && len(got) < limit-utf8.UTFMax+1 || len(s) <= limit && got != s {
			t.Fatalf("truncate(%q, %d): got %q, want as much as there is room for", s, limit, got)
		}
	})
}

func TestTruncateMakesTextOfWhatIsNone(t *testing.T) {
	for _, tt := range []struct{ s, want string }{
		{"a\xff", "a?"}, {"\xff\xff\xff\xff\xff\xff", "?"}, {"é\xffé", "é"}, {strings.Repeat("\x80", 9), "?"}, {"", ""},
	} {
		if got := truncate(tt.s, 4); got != tt.want {
			t.Errorf("truncate(%q, 4): got %q, want %q", tt.s, got, tt.want)
		}
	}
}

func TestClipListKeepsWholeMembers(t *testing.T) {
	for _, tt := range []struct {
		list  string
		limit int
		want  string
	}{
		{"a=1,b=2", 7, "a=1,b=2"}, {"a=1,b=2", 6, "a=1"}, {"a=1,b=2", 3, "a=1"}, {"a=1,b=2", 2, ""}, {"", 0, ""},
	} {
		if got := clipList(tt.list, tt.limit); got != tt.want {
			t.Errorf("clipList(%q, %d): got %q, want %q", tt.list, tt.limit, got, tt.want)
		}
	}
}

func TestLimiterLetsFiveThroughAtOnceAndThenOneASecond(t *testing.T) {
	var l limiter
	key := limitKey{event: "e", reason: "r"}
	now := time.Unix(1000, 0)
	written := 0
	for range 20 {
		if _, ok := l.allow(key, now); ok {
			written++
		}
	}
	if written != 5 {
		t.Errorf("a burst: got %d records, want 5", written)
	}
	if _, ok := l.allow(key, now.Add(999*time.Millisecond)); ok {
		t.Error("within a second of the burst there is no record, got one")
	}
	suppressed, ok := l.allow(key, now.Add(time.Second))
	if !ok || suppressed != 16 {
		t.Errorf("after a second: got %v with %d suppressed, want true with 16", ok, suppressed)
	}
	if _, ok := l.allow(limitKey{event: "e", reason: "other"}, now.Add(time.Second)); !ok {
		t.Error("another reason has a burst of its own, got none")
	}
	l.allow(key, now.Add(time.Second))
	if rest := l.flush(); len(rest) != 1 || rest[key] != 1 {
		t.Errorf("the rest: got %v, want 1 of %v", rest, key)
	}
	if rest := l.flush(); len(rest) != 0 {
		t.Errorf("the rest is told once: got %v", rest)
	}
	if _, ok := l.allow(key, now.Add(-time.Hour)); ok {
		t.Error("a clock that goes back gives no record, got one")
	}
}

// Over any sequence of events and times, what is written and what is reported as suppressed is all there was, and no
// more is written than five and one for each second.
func TestLimiterLosesCountOfNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var l limiter
		key := limitKey{event: "e"}
		start := time.Unix(1000, 0)
		now, written, suppressed, all := start, 0, 0, 0
		for _, pause := range rapid.SliceOf(rapid.IntRange(0, 3000)).Draw(t, "pauses in ms") {
			now = now.Add(time.Duration(pause) * time.Millisecond)
			all++
			if n, ok := l.allow(key, now); ok {
				written++
				suppressed += n
			}
		}
		suppressed += l.flush()[key]
		if written+suppressed != all {
			t.Fatalf("of %d records: got %d written and %d suppressed", all, written, suppressed)
		}
		if most := 5 + int(now.Sub(start)/time.Second); written > most {
			t.Fatalf("in %v: got %d records, want at most %d", now.Sub(start), written, most)
		}
	})
}
