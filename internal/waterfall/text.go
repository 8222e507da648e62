package waterfall

import (
	"strings"
	"time"
	"unicode"

	"github.com/mcpotel/mcpotel/internal/unit"
	"github.com/mcpotel/mcpotel/internal/visible"
)

// clean replaces invisible characters in text from a peer, and all but ASCII if ascii is set.
func clean(s string, ascii bool) string {
	replacement := '\uFFFD'
	if ascii {
		replacement = '?'
	}
	shown := visible.Map([]byte(s), func(rune) rune { return replacement })
	return strings.Map(func(r rune) rune {
		switch r {
		case '\uFE0E', '\uFE0F', '\u200C', '\u200D': // variation selectors and joiners: they only change other characters
			return -1
		}
		if !unicode.IsPrint(r) || ascii && r > unicode.MaxASCII { // spaces other than ' ' may have other widths
			return replacement
		}
		return r
	}, string(shown))
}

// wide contains the characters that take two columns (UAX #11, wide and fullwidth).
var wide = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x1100, 0x115F, 1}, {0x231A, 0x231B, 1}, {0x23E9, 0x23F3, 1}, {0x25FD, 0x25FE, 1}, {0x2614, 0x2615, 1},
		{0x2648, 0x2653, 1}, {0x267F, 0x267F, 1}, {0x2693, 0x2693, 1}, {0x26A1, 0x26A1, 1}, {0x26AA, 0x26AB, 1},
		{0x26BD, 0x26BE, 1}, {0x26C4, 0x26C5, 1}, {0x26CE, 0x26CE, 1}, {0x26D4, 0x26D4, 1}, {0x26EA, 0x26EA, 1},
		{0x26F2, 0x26F3, 1}, {0x26F5, 0x26F5, 1}, {0x26FA, 0x26FA, 1}, {0x26FD, 0x26FD, 1}, {0x2705, 0x2705, 1},
		{0x270A, 0x270B, 1}, {0x2728, 0x2728, 1}, {0x274C, 0x274E, 1}, {0x2753, 0x2757, 1}, {0x2795, 0x2797, 1},
		{0x27B0, 0x27BF, 1}, {0x2B1B, 0x2B1C, 1}, {0x2B50, 0x2B55, 1}, {0x2E80, 0x303E, 1}, {0x3041, 0x33FF, 1},
		{0x3400, 0x4DBF, 1}, {0x4E00, 0xA4CF, 1}, {0xA960, 0xA97C, 1}, {0xAC00, 0xD7A3, 1}, {0xF900, 0xFAFF, 1},
		{0xFE10, 0xFE19, 1}, {0xFE30, 0xFE6F, 1}, {0xFF01, 0xFF60, 1}, {0xFFE0, 0xFFE6, 1},
	},
	R32: []unicode.Range32{
		{0x16FE0, 0x18DFF, 1}, {0x1AFF0, 0x1B2FF, 1}, {0x1F004, 0x1F004, 1}, {0x1F0CF, 0x1F0CF, 1},
		{0x1F18E, 0x1F18E, 1}, {0x1F191, 0x1F19A, 1}, {0x1F200, 0x1F64F, 1}, {0x1F680, 0x1F6FF, 1},
		{0x1F7E0, 0x1F7EB, 1}, {0x1F7F0, 0x1F7F0, 1}, {0x1F90C, 0x1F9FF, 1}, {0x1FA70, 0x1FAFF, 1},
		{0x20000, 0x3FFFD, 1},
	},
}

func runeColumns(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me):
		return 0
	case unicode.Is(wide, r):
		return 2
	}
	return 1
}

// columns returns the number of columns of clean text.
func columns(s string) int {
	n := 0
	for _, r := range s {
		n += runeColumns(r)
	}
	return n
}

// truncate cuts clean text to n columns, and ends it with a mark if it was cut.
func truncate(s string, n int, ascii bool) string {
	if columns(s) <= n {
		return s
	}
	if n <= 0 {
		return ""
	}
	mark := "…"
	if ascii {
		mark = "~"
	}
	used := 0
	for i, r := range s {
		if used += runeColumns(r); used > n-1 {
			return s[:i] + mark
		}
	}
	return s
}

// pad appends spaces to s up to n columns.
func pad(s string, n int) string { return s + strings.Repeat(" ", max(n-columns(s), 0)) }

// duration formats d in at most 7 columns, unless it is negative.
func duration(d time.Duration, ascii bool) string {
	s := unit.Duration(d)
	if ascii {
		s = strings.Replace(s, "µ", "u", 1)
	}
	return s
}
