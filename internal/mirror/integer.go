package mirror

import (
	"strconv"
	"strings"

	"github.com/mcpotel/mcpotel/internal/jsonscan"
)

const maxInteger = 1<<53 - 1

// integer returns the decimal form of a JSON number that has an integer value within ±(2^53−1), however it is written:
// 4.20e1 is 42 and -0 is 0. It is exact, which going through float64 is not.
func integer(number string) (decimal string, ok bool) {
	if n, ok := jsonscan.Int([]byte(number)); ok {
		return strconv.FormatInt(n, 10), -maxInteger <= n && n <= maxInteger
	}
	if !isNumber(number) {
		return "", false
	}
	unsigned, negative := strings.CutPrefix(number, "-")
	mantissa, exponent := unsigned, 0
	if i := strings.IndexAny(unsigned, "eE"); i >= 0 {
		mantissa = unsigned[:i]
		exponent, _ = strconv.Atoi(unsigned[i+1:]) // the nearest int, if it is beyond
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.Trim(whole+fraction, "0")
	if digits == "" {
		return "0", true
	}
	// The value is 0.digits with the point moved to the right by as many places.
	places := len(strings.TrimLeft(whole+fraction, "0")) - len(fraction)
	const most = len("9007199254740991")
	if exponent < len(digits)-places || exponent > most-places {
		return "", false
	}
	n, err := strconv.ParseInt(digits+strings.Repeat("0", places+exponent-len(digits)), 10, 64)
	if err != nil || n > maxInteger {
		return "", false
	}
	if negative {
		n = -n
	}
	return strconv.FormatInt(n, 10), true
}

// isNumber reports whether s is a JSON number and nothing else.
func isNumber(s string) bool {
	if s == "" || s[0] != '-' && (s[0] < '0' || s[0] > '9') {
		return false
	}
	end, err := jsonscan.Value([]byte(s), 0)
	return err == nil && end == len(s)
}
