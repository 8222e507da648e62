package mirror

import (
	"strconv"

	"github.com/mcpotel/mcpotel/internal/jsonscan"
)

const maxInteger = 1<<53 - 1

// integer returns the decimal form of a JSON number with an integer value within ±(2^53−1), in any spelling: 4.20e1 is
// 42 and -0 is 0. It is exact; a conversion to float64 would not be.
func integer(number string) (decimal string, ok bool) {
	n, ok := jsonscan.Int([]byte(number))
	if !ok || n < -maxInteger || n > maxInteger {
		return "", false
	}
	return strconv.FormatInt(n, 10), true
}
