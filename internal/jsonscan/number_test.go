package jsonscan_test

import (
	"math"
	"math/big"
	"regexp"
	"strings"
	"testing"

	"github.com/mcpotel/mcpotel/internal/jsonscan"
)

func TestIntReadsIntegersInAnyNotation(t *testing.T) {
	for _, tt := range []struct {
		raw  string
		want int64
		ok   bool
	}{
		{"0", 0, true}, {"7", 7, true}, {"-7", -7, true}, {"9007199254740993", 9007199254740993, true},
		{"9223372036854775807", math.MaxInt64, true}, {"-9223372036854775808", math.MinInt64, true},
		{"9223372036854775808", 0, false}, {"-9223372036854775809", 0, false}, {"99999999999999999999", 0, false},
		{"18446744073709551616", 0, false},
		{"-0", 0, true}, {"-0.0e9", 0, true}, {"1.0", 1, true}, {"1e3", 1000, true}, {"-1.5E+1", -15, true},
		{"1200e-2", 12, true}, {"9223372036854775807.0", math.MaxInt64, true},
		{"-0.9223372036854775808e19", math.MinInt64, true},
		{"9223372036854775808.0", 0, false}, {"1e19", 0, false}, {"1.5", 0, false}, {"15e-1", 0, false}, {"1e-400", 0, false},
		{"1e99999999999999999999", 0, false}, {"0e99999999999999999999", 0, true}, {"1." + strings.Repeat("0", 63), 0, false},
		{"01", 0, false}, {"01.0", 0, false}, {"1.", 0, false}, {".5e1", 0, false}, {"1e", 0, false}, {"", 0, false},
		{"-", 0, false}, {"+1", 0, false},
		{" 1", 0, false}, {"1 ", 0, false}, {`"1"`, 0, false}, {"null", 0, false}, {"0x1", 0, false}, {"1_0", 0, false},
	} {
		if got, ok := jsonscan.Int([]byte(tt.raw)); got != tt.want || ok != tt.ok {
			t.Errorf("Int(%q) = %d, %v, want %d, %v", tt.raw, got, ok, tt.want, tt.ok)
		}
	}
}

func FuzzInt(f *testing.F) {
	for _, s := range []string{"0", "-0", "12", "-9223372036854775808", "9223372036854775808", "1.0", "1e1", "01",
		"1e99"} {
		f.Add(s)
	}
	isNumber := regexp.MustCompile(`^-?(0|[1-9][0-9]*)([.][0-9]+)?([eE][-+]?[0-9]{1,3})?$`)
	longExponent := regexp.MustCompile(`[eE][-+]?[0-9]{4,}$`)
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 64 {
			return
		}
		var want int64
		var wantOK bool
		switch {
		case isNumber.MatchString(s):
			x, _ := new(big.Rat).SetString(s)
			if wantOK = x.IsInt() && x.Num().IsInt64(); wantOK {
				want = x.Num().Int64()
			}
		case longExponent.MatchString(s): // a big.Rat would take too long
			return
		}
		if got, ok := jsonscan.Int([]byte(s)); got != want || ok != wantOK {
			t.Errorf("Int(%q) = %d, %v, want %d, %v", s, got, ok, want, wantOK)
		}
	})
}
