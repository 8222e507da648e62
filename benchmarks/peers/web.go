package peers

import "net/http"

// pool returns an HTTP client of its own, which keeps a connection for each of many callers: with the default of two,
// the benchmarks of 64 callers would be of dialing.
func pool() *http.Client {
	return &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1024}}
}
