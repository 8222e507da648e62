package unit

import (
	"math"
	"testing"
	"time"
	"unicode/utf8"
)

func TestDurationsKeepThreeDigits(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0ns", 999: "999ns", 9_996: "10.0µs", 999_600: "1.00ms", 59_960 * time.Millisecond: "1m00s",
		-1500: "-1.50µs", math.MinInt64: "->1000h", math.MaxInt64: ">1000h", time.Hour + 2*time.Minute: "1h02m",
	} {
		if got := Duration(d); got != want {
			t.Errorf("Duration(%d) = %q, want %q", d, got, want)
		}
	}
}

func TestSizesUseBinaryPrefixes(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 B", 1023: "1023 B", 1024: "1.00 KiB", 1536: "1.50 KiB", 1 << 20: "1.00 MiB", 1023 << 10: "1.00 MiB",
		math.MaxInt64: "8.00 EiB",
	} {
		if got := Size(n); got != want {
			t.Errorf("Size(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestNumbersStayShort(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", 42: "42", -7: "-7", 123456789: "123456789", 1e15: "1e15", 0.12345: "0.123", 1.5: "1.5", math.Inf(1): "+Inf",
	} {
		got := Number(v)
		if got != want {
			t.Errorf("Number(%v) = %q, want %q", v, got, want)
		}
		if utf8.RuneCountInString(got) > 13 {
			t.Errorf("Number(%v) = %q, want at most 13 characters", v, got)
		}
	}
}
