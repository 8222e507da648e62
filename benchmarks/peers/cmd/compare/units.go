package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// multiple writes a ratio: ×1.83.
func multiple(f float64) string {
	if math.IsNaN(f) {
		return "–"
	}
	return "×" + digits(f)
}

// quantity writes a value of a benchmark's unit for people.
func quantity(f float64, unit string) string {
	switch {
	case math.IsNaN(f):
		return "–"
	case unit == peak:
		return multiple(f)
	case strings.HasPrefix(unit, "ns/") || strings.HasSuffix(unit, "-ns") || strings.Contains(unit, "-ns/"):
		return duration(f)
	case strings.HasPrefix(unit, "B/"):
		return size(f)
	case unit == rate:
		return digits(f) + " MB/s"
	default:
		return number(f)
	}
}

// duration writes nanoseconds.
func duration(ns float64) string {
	switch {
	case ns < 0:
		return "-" + duration(-ns)
	case ns >= 999.5e6:
		return digits(ns/1e9) + " s"
	case ns >= 999.5e3:
		return digits(ns/1e6) + " ms"
	case ns >= 999.5:
		return digits(ns/1e3) + " µs"
	default:
		return digits(ns) + " ns"
	}
}

// size writes bytes.
func size(b float64) string {
	switch {
	case b >= 1<<20:
		return digits(b/(1<<20)) + " MiB"
	case b >= 1<<10:
		return digits(b/(1<<10)) + " KiB"
	default:
		return number(b) + " B"
	}
}

// digits formats f with three significant digits, or with all digits if f is a whole number.
func digits(f float64) string {
	switch a := math.Abs(f); {
	case a >= 99.95 || a == 0:
		return number(math.Round(f))
	case a >= 9.995:
		return strconv.FormatFloat(f, 'f', 1, 64)
	case a >= 0.01:
		return strconv.FormatFloat(f, 'f', 2, 64)
	default:
		return strconv.FormatFloat(f, 'g', 2, 64)
	}
}

// number writes a count, with commas; a fraction has one decimal.
func number(f float64) string {
	if f != math.Trunc(f) {
		return strconv.FormatFloat(f, 'f', 1, 64)
	}
	if f < 0 {
		return "-" + number(-f)
	}
	s := fmt.Sprintf("%.0f", f)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
