package web

import "strconv"

// threeDigits is the concatenation of the numbers from 100 to 999.
var threeDigits = func() string {
	var all []byte
	for n := 100; n <= 999; n++ {
		all = strconv.AppendInt(all, int64(n), 10)
	}
	return string(all)
}()

// decimal formats a number. It does not allocate for a number of up to three digits, such as the Content-Length of a
// short answer. [strconv.Itoa] allocates from 100 on, which was one of the fifteen allocations of this package for a
// tiny call over HTTP.
func decimal(n int) string {
	if n < 100 || n > 999 {
		return strconv.Itoa(n)
	}
	at := 3 * (n - 100)
	return threeDigits[at : at+3]
}
