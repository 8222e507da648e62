package mirror

import (
	"strconv"

	"github.com/mcpotel/mcpotel/internal/jsonscan"
)

const maxInteger = 1<<53 - 1

// integer returns the decimal form of a JSON number that has an integer value within ±(2^53−1), however it is written:
// 4.20e1 is 42 and -0 is 0. It is exact, which going through float64 is not.
func integer(number string) (decimal string, ok bool) {
	n, ok := jsonscan.Int([]byte(number))
	if !ok || n < -maxInteger || n > maxInteger {
		return "", false
	}
	return strconv.FormatInt(n, 10), true
}
