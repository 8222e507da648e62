package jsonscan_test

import (
	"math"
	"regexp"
	"strconv"
	"testing"

	"github.com/mcpotel/mcpotel/internal/jsonscan"
)

func TestIntTakesExactIntegersOnly(t *testing.T) {
	for _, tt := range []struct {
		raw  string
		want int64
		ok   bool
	}{
		{"0", 0, true}, {"7", 7, true}, {"-7", -7, true}, {"9007199254740993", 9007199254740993, true},
		{"9223372036854775807", math.MaxInt64, true}, {"-9223372036854775808", math.MinInt64, true},
		{"9223372036854775808", 0, false}, {"-9223372036854775809", 0, false}, {"99999999999999999999", 0, false},
		{"18446744073709551616", 0, false},
		{"-0", 0, false}, {"01", 0, false}, {"1.0", 0, false}, {"1e3", 0, false}, {"1E3", 0, false}, {"", 0, false},
		{"-", 0, false}, {"+1", 0, false},
		{" 1", 0, false}, {"1 ", 0, false}, {`"1"`, 0, false}, {"null", 0, false}, {"0x1", 0, false}, {"1_0", 0, false},
	} {
		if got, ok := jsonscan.Int([]byte(tt.raw)); got != tt.want || ok != tt.ok {
			t.Errorf("Int(%q) = %d, %v, want %d, %v", tt.raw, got, ok, tt.want, tt.ok)
		}
	}
}

func FuzzInt(f *testing.F) {
	for _, s := range []string{"0", "-0", "12", "-9223372036854775808", "9223372036854775808", "1.0", "1e1", "01"} {
		f.Add(s)
	}
	integer := regexp.MustCompile(`^(0|-?[1-9][0-9]*)$`)
	f.Fuzz(func(t *testing.T, s string) {
		want, err := strconv.ParseInt(s, 10, 64)
		wantOK := err == nil && integer.MatchString(s)
		if !wantOK {
			want = 0
		}
		if got, ok := jsonscan.Int([]byte(s)); got != want || ok != wantOK {
			t.Errorf("Int(%q) = %d, %v, want %d, %v", s, got, ok, want, wantOK)
		}
	})
}
