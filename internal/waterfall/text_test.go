package waterfall

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestDurationsHaveThreeDigitsAndTheirUnit(t *testing.T) {
	for _, tc := range []struct {
		d    time.Duration
		want string
	}{
		{0, "0ns"},
		{999, "999ns"},
		{time.Microsecond, "1.00µs"},
		{9_994, "9.99µs"},
		{9_996, "10.0µs"},
		{99_960, "100µs"},
		{999_499, "999µs"},
		{999_600, "1.00ms"},
		{12_345_678, "12.3ms"},
		{999_600_000, "1.00s"},
		{59_940 * time.Millisecond, "59.9s"},
		{59_960 * time.Millisecond, "1m00s"},
		{61 * time.Second, "1m01s"},
		{59*time.Minute + 59*time.Second, "59m59s"},
		{time.Hour + 2*time.Minute, "1h02m"},
		{999*time.Hour + 59*time.Minute, "999h59m"},
		{1000 * time.Hour, ">1000h"},
		{1<<63 - 1, ">1000h"},
	} {
		got := duration(tc.d, false)
		if got != tc.want {
			t.Errorf("duration(%d) = %q, want %q", tc.d, got, tc.want)
		}
		if columns(got) > durationColumns {
			t.Errorf("duration(%d) = %q, want at most %d columns", tc.d, got, durationColumns)
		}
	}
	if got := duration(5*time.Microsecond, true); got != "5.00us" {
		t.Errorf("duration of 5µs in ASCII = %q, want 5.00us", got)
	}
}

func TestColumnsFollowTheWidthOfCharacters(t *testing.T) {
	for s, want := range map[string]int{
		"": 0, "abc": 3, "é": 1, "e\u0301": 1, "天気": 4, "ｱ": 1, "Ａ": 2, "🌦": 2, "✗": 1, "█": 1, "한글": 4, "�": 1,
	} {
		if got := columns(s); got != want {
			t.Errorf("columns(%q) = %d, want %d", s, got, want)
		}
	}
}

func TestTruncateMarksTheOmission(t *testing.T) {
	for _, tc := range []struct {
		s     string
		n     int
		ascii bool
		want  string
	}{
		{"forecast", 8, false, "forecast"},
		{"forecast", 7, false, "foreca…"},
		{"forecast", 7, true, "foreca~"},
		{"forecast", 0, false, ""},
		{"天気予報", 5, false, "天気…"},
		{"天気予報", 4, false, "天…"},
	} {
		if got := truncate(tc.s, tc.n, tc.ascii); got != tc.want {
			t.Errorf("truncate(%q, %d, %v) = %q, want %q", tc.s, tc.n, tc.ascii, got, tc.want)
		}
	}
}

func TestBlocksApproximateEighths(t *testing.T) {
	for _, tc := range []struct {
		lo, hi int
		want   string
	}{
		{0, 0, " "}, {8, 3, " "}, {0, 1, "▏"}, {0, 4, "▌"}, {0, 8, "█"},
		{1, 8, "█"}, {2, 8, "▐"}, {4, 8, "▐"}, {5, 8, "▐"}, {6, 8, "▕"}, {7, 8, "▕"},
		{3, 4, "▏"}, {2, 6, "▌"}, {4, 7, "▐"}, {6, 7, "▕"},
	} {
		if got := block(tc.lo, tc.hi); got != tc.want {
			t.Errorf("block(%d, %d) = %q, want %q", tc.lo, tc.hi, got, tc.want)
		}
	}
}

func TestLocaleSelectsUTF8(t *testing.T) {
	for _, tc := range []struct {
		env  map[string]string
		want bool
	}{
		{map[string]string{}, false},
		{map[string]string{"LANG": "en_GB.UTF-8"}, true},
		{map[string]string{"LANG": "C.utf8"}, true},
		{map[string]string{"LANG": "en_GB.UTF-8", "LC_ALL": "C"}, false},
		{map[string]string{"LANG": "C", "LC_CTYPE": "de_DE.UTF-8"}, true},
	} {
		if got := UTF8(func(key string) string { return tc.env[key] }); got != tc.want {
			t.Errorf("UTF8 with %v = %v, want %v", tc.env, got, tc.want)
		}
	}
}

func TestSelectedShortensKeysAndCorrelationID(t *testing.T) {
	got := Selected(agentTrace()[1])
	want := []Attribute{{"method", "tools/call"}, {"tool", "lookup"}, {"id", "7"}, {"corr", "3f2a91bc"},
		{"transport", "pipe"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Selected (-want +got):\n%s", diff)
	}
}

func TestCallerSelectsTheAttributes(t *testing.T) {
	out := render(t, agentTrace(), Options{Attributes: func(s Span) []Attribute {
		if s.Kind == "SERVER" {
			return []Attribute{{"who", s.Service}}
		}
		return nil
	}})
	if got := strings.Count(out, "who=weather-server"); got != 2 {
		t.Errorf("the chosen attribute is drawn %d times, want 2:\n%s", got, out)
	}
	if strings.Contains(out, "method=") {
		t.Errorf("an attribute that was not chosen is drawn:\n%s", out)
	}
}

func TestAnErrorWithoutTypeIsStillAnError(t *testing.T) {
	s := span("1", "", "svc", "CLIENT", "ping", 0, 1)
	s.Error = true
	if out := render(t, []Span{s}, Options{}); !strings.Contains(out, "✗ ping") ||
		!strings.Contains(out, "error.type=unknown") {
		t.Errorf("want a mark and error.type=unknown, got:\n%s", out)
	}
}

func TestNarrowWidthsCountAsSixty(t *testing.T) {
	want := render(t, agentTrace(), Options{Width: 60})
	for _, width := range []int{-1, 1, 59} {
		if got := render(t, agentTrace(), Options{Width: width}); got != want {
			t.Errorf("Width %d differs from width 60:\n%s", width, got)
		}
	}
}

type brokenWriter struct{ err error }

func (w brokenWriter) Write([]byte) (int, error) { return 0, w.err }

func TestRenderReturnsTheErrorOfTheWriter(t *testing.T) {
	want := errors.New("pipe is gone")
	if got := Render(brokenWriter{want}, agentTrace(), Options{}); got != want {
		t.Errorf("Render = %v, want %v", got, want)
	}
}
