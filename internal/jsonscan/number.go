package jsonscan

import (
	"math"
	"strconv"
)

func isDigit(c byte) bool { return c-'0' <= 9 }

// digits returns the offset behind the digits at b[i], of which there may be none.
func digits(b []byte, i int) int {
	for i < len(b) && isDigit(b[i]) {
		i++
	}
	return i
}

// number validates the number at b[i], which is a minus or a digit.
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

// Int returns the integer that raw, a JSON number, spells. It is exact: false for anything written with a fraction or
// an exponent (1.0, 1e3), for -0, for what an int64 cannot hold, and for anything that is not a number.
func Int(raw []byte) (n int64, ok bool) {
	b := raw
	negative := len(b) > 0 && b[0] == '-'
	if negative {
		b = b[1:]
	}
	if len(b) == 0 || len(b) > 19 || b[0] == '0' && (len(b) > 1 || negative) {
		return 0, false
	}
	var u uint64 // 19 digits always fit
	for _, c := range b {
		if !isDigit(c) {
			return 0, false
		}
		u = u*10 + uint64(c-'0')
	}
	switch {
	case negative && u <= -math.MinInt64:
		return -int64(u), true
	case !negative && u <= math.MaxInt64:
		return int64(u), true
	}
	return 0, false
}

// Float returns the float64 nearest to raw, which must be a valid JSON number; false when it is beyond the range.
func Float(raw []byte) (x float64, ok bool) {
	x, err := strconv.ParseFloat(Alias(raw), 64)
	return x, err == nil
}
