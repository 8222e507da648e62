package waits

import (
	"math"
	"net/http"
	"testing"
	"time"
)

func TestRetryAfterIsParsedAndLimited(t *testing.T) {
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	at := func(d time.Duration) string { return now.Add(d).Format(http.TimeFormat) }
	for value, want := range map[string]time.Duration{
		"0": 0, "7": 7 * time.Second, "600": Most, "601": Most, "3600": Most, "18446744073709551615": Most,
		"18446744073709551616":       Most,
		"99999999999999999999999999": Most, at(3 * time.Second): 3 * time.Second, at(-time.Hour): 0, at(time.Hour): Most,
		at(200 * 365 * 24 * time.Hour): Most,
	} {
		if got, ok := RetryAfter(value, now); got != want || !ok {
			t.Errorf("%q: got %v, %v, want %v", value, got, ok, want)
		}
	}
	for _, value := range []string{"", "soon", "-1", "1.5", " 7", "7s", "٧"} {
		if got, ok := RetryAfter(value, now); got != 0 || ok {
			t.Errorf("%q: got %v, %v, want an invalid value", value, got, ok)
		}
	}
}

func TestReopenDelaysAreBounded(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		suggested      time.Duration
		useless, brief int
		least, most    time.Duration
	}{
		{-1, 0, 0, 800 * ms, time.Second},
		{-1, 1, 9, 1600 * ms, 2 * time.Second},
		{-1, 4, 4, 12800 * ms, 16 * time.Second},
		{-1, 5, 5, 24 * time.Second, 30 * time.Second},
		{-1, math.MaxInt, math.MaxInt, 24 * time.Second, 30 * time.Second},
		{0, 0, 0, 100 * ms, 120 * ms},
		{0, 0, 3, 800 * ms, 960 * ms},
		{0, 9, math.MaxInt, time.Second, 1200 * ms},
		{500 * ms, 9, 1, 500 * ms, 600 * ms},
		{5 * time.Second, 99, 99, 5 * time.Second, 6 * time.Second},
		{math.MaxInt64, 0, 0, Most, Most + Most/5},
	} {
		for range 100 {
			if got := Reopen(c.suggested, c.useless, c.brief); got < c.least || got > c.most {
				t.Fatalf("suggested %v, useless %d, brief %d: got %v, want %v to %v", c.suggested, c.useless, c.brief, got, c.least,
					c.most)
			}
		}
	}
}

func TestPollIntervalIsBounded(t *testing.T) {
	const least, most, usual = 100 * time.Millisecond, time.Minute, time.Second
	for _, c := range []struct {
		suggested *int64
		failures  int
		want      time.Duration
	}{
		{nil, 0, usual}, {new(int64(0)), 0, least}, {new(int64(math.MinInt64)), 0, least},
		{new(int64(math.MaxInt64)), 0, most},
		{new(int64(2500)), 0, 2500 * time.Millisecond}, {nil, 2, 4 * usual}, {nil, math.MaxInt, most},
	} {
		for range 100 {
			if got := Poll(c.suggested, usual, least, most, c.failures); got < c.want || got > c.want+c.want/10 {
				t.Fatalf("%v after %d failures: got %v, want %v and up to a tenth more", c.suggested, c.failures, got, c.want)
			}
		}
	}
}
