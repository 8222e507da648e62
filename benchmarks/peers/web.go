package peers

import (
	"context"
	"net/http"

	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"

	"github.com/mcpotel/mcpotel/benchmarks/workload"
)

// pool returns the user's HTTP client, or a new one with an idle connection for each of many callers: with the default
// of two, the benchmarks of 64 callers would measure dialing.
func pool(ctx context.Context) *http.Client {
	if c := workload.HTTPClientOf(ctx); c != nil {
		return c
	}
	return &http.Client{Transport: workload.Roomy()}
}

// OTelHTTP is a user's HTTP client with otelhttp, as its documentation shows, without an SDK. Idle connections stay
// open until the client ends, because otelhttp does not implement CloseIdleConnections.
var OTelHTTP = workload.Use{
	Name: "client=otelhttp",
	With: func(ctx context.Context) (context.Context, func(), error) {
		web := workload.Roomy()
		return workload.WithHTTPClient(ctx, &http.Client{Transport: otelhttp.NewTransport(web)}),
			web.CloseIdleConnections, nil
	},
}
