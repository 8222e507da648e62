package jsonscan

import (
	"math"
	"strconv"
	"strings"
)

func isDigit(c byte) bool { return c-'0' <= 9 }

// digits returns the offset behind the digits at b[i]. There may be no digits.
func digits(b []byte, i int) int {
	for i < len(b) && isDigit(b[i]) {
		i++
	}
	return i
}

// number validates the number at b[i], which starts with a minus or a digit.
func number(b []byte, i int) (int, error) {
	if b[i] == '-' {
		i++
	}
	if at(b, i) == '0' {
		i++
	} else {
		first := i
		if i = digits(b, i); i == first {
			return i, unexpected(b, i)
		}
	}
	if at(b, i) == '.' {
		first := i + 1
		if i = digits(b, first); i == first {
			return i, unexpected(b, i)
		}
	}
	if c := at(b, i); c == 'e' || c == 'E' {
		i++
		if c := at(b, i); c == '+' || c == '-' {
			i++
		}
		first := i
		if i = digits(b, i); i == first {
			return i, unexpected(b, i)
		}
	}
	return i, nil
}

// Int returns the integer value of raw, a JSON number in any spelling: 42, 42.0 and 4.2e1 are the same number to JSON
// Schema and to many encoders. Int is exact. It reports false for a number with a fraction, for a number that an int64
// cannot hold, for more than maxNumber bytes, and for anything other than a number.
func Int(raw []byte) (n int64, ok bool) {
	b := raw
	negative := len(b) > 0 && b[0] == '-'
	if negative {
		b = b[1:]
	}
	if len(b) == 0 || len(b) > 19 || b[0] == '0' && (len(b) > 1 || negative) {
		return otherInt(raw)
	}
	var u uint64 // 19 digits always fit
	for _, c := range b {
		if !isDigit(c) {
			return otherInt(raw)
		}
		u = u*10 + uint64(c-'0')
	}
	return signed(u, negative)
}

// signed returns u with its sign. It reports false if an int64 cannot hold the result.
func signed(u uint64, negative bool) (n int64, ok bool) {
	switch {
	case negative && u <= -math.MinInt64:
		return -int64(u), true
	case !negative && u <= math.MaxInt64:
		return int64(u), true
	}
	return 0, false
}

// maxNumber is the maximum length of a number that Int accepts, in bytes.
const maxNumber = 64

// otherInt is Int for numbers with characters other than digits. It reports false for text other than a number.
func otherInt(raw []byte) (n int64, ok bool) {
	if len(raw) == 0 || len(raw) > maxNumber || raw[0] != '-' && !isDigit(raw[0]) {
		return 0, false
	}
	if end, err := number(raw, 0); err != nil || end != len(raw) {
		return 0, false
	}
	mantissa, negative := strings.CutPrefix(string(raw), "-")
	exponent := 0
	if i := strings.IndexAny(mantissa, "eE"); i >= 0 {
		exponent, _ = strconv.Atoi(mantissa[i+1:]) // Atoi returns the nearest int if it is out of range
		mantissa = mantissa[:i]
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.Trim(whole+fraction, "0")
	if digits == "" {
		return 0, true
	}
	// Without its exponent, the value is 0.digits times ten to the power of places.
	places := len(strings.TrimLeft(whole+fraction, "0")) - len(fraction)
	const most = len("9223372036854775808")
	if exponent < len(digits)-places || exponent > most-places {
		return 0, false
	}
	u, err := strconv.ParseUint(digits+strings.Repeat("0", places+exponent-len(digits)), 10, 64)
	if err != nil {
		return 0, false
	}
	return signed(u, negative)
}

// Float returns the float64 nearest to raw, which must be a valid JSON number. It reports false if the number is out of
// range.
func Float(raw []byte) (x float64, ok bool) {
	x, err := strconv.ParseFloat(Alias(raw), 64)
	return x, err == nil
}
