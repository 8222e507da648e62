package peers

import (
	"context"
	"net/http"

	"github.com/mcpotel/mcpotel/benchmarks/workload"
)

// pool returns the user's HTTP client, or one of its own, which keeps a connection for each of many callers: with the
// default of two, the benchmarks of 64 callers would be of dialing.
func pool(ctx context.Context) *http.Client {
	if c := workload.HTTPClientOf(ctx); c != nil {
		return c
	}
	return &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1024}}
}
