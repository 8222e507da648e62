// Package unit formats quantities for people: durations, sizes and numbers, each in a few characters.
package unit

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

var durations = []struct {
	unit time.Duration
	name string
}{{time.Microsecond, "µs"}, {time.Millisecond, "ms"}, {time.Second, "s"}}

// Duration formats d in the unit that leaves one to three digits before the point: "1.23ms", "45.6s", "2m03s". More
// than a thousand hours are ">1000h".
func Duration(d time.Duration) string {
	if d < 0 {
		return "-" + Duration(-max(d, -math.MaxInt64))
	}
	if d < time.Microsecond {
		return fmt.Sprintf("%dns", d)
	}
	for i, u := range durations {
		v := float64(d) / float64(u.unit)
		if v < 999.5 && i < 2 || v < 59.95 {
			return threeDigits(v) + u.name
		}
	}
	d = d.Round(time.Second)
	switch h := d / time.Hour; {
	case h == 0:
		return fmt.Sprintf("%dm%02ds", d/time.Minute, d%time.Minute/time.Second)
	case h < 1000:
		return fmt.Sprintf("%dh%02dm", h, d%time.Hour/time.Minute)
	}
	return ">1000h"
}

// Size formats a number of bytes: "512 B", "1.50 KiB".
func Size(bytes int64) string {
	if bytes < 1024 {
		return strconv.FormatInt(bytes, 10) + " B"
	}
	v, prefixes := float64(bytes)/1024, "KMGTPE"
	for v >= 999.5 && len(prefixes) > 1 {
		v, prefixes = v/1024, prefixes[1:]
	}
	return threeDigits(v) + " " + prefixes[:1] + "iB"
}

// Number formats a whole number of up to twelve digits in full, and any other number with three significant digits.
func Number(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e12 {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	s := strconv.FormatFloat(v, 'g', 3, 64)
	return strings.Replace(s, "e+", "e", 1)
}

func threeDigits(v float64) string {
	switch {
	case v < 9.995:
		return fmt.Sprintf("%.2f", v)
	case v < 99.95:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.0f", v)
}
