package peers

import (
	"context"
	"net/http"

	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"

	"github.com/mcpotel/mcpotel/benchmarks/workload"
)

// pool returns the user's HTTP client, or one of its own, which keeps a connection for each of many callers: with the
// default of two, the benchmarks of 64 callers would be of dialing.
func pool(ctx context.Context) *http.Client {
	if c := workload.HTTPClientOf(ctx); c != nil {
		return c
	}
	return &http.Client{Transport: workload.Roomy()}
}

// OTelHTTP is a user's HTTP client that is observed by otelhttp, as its documentation shows it, without an SDK. Idle
// connections stay until its end: otelhttp does not pass on that a client closes them.
var OTelHTTP = workload.Use{
	Name: "client=otelhttp",
	With: func(ctx context.Context) (context.Context, func(), error) {
		web := workload.Roomy()
		return workload.WithHTTPClient(ctx, &http.Client{Transport: otelhttp.NewTransport(web)}),
			web.CloseIdleConnections, nil
	},
}
