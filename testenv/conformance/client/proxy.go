package main

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"sync/atomic"
	"time"

	"github.com/mcpotel/mcpotel/mcpclient/auth"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpproxy"
)

// reach returns a transport to the server, through a proxy if MCPOTEL_WAY requests one. A proxy over HTTP runs in this
// process and has the authorization; a proxy on standard input and output is the command.
func reach(server *transport.HTTP, tel *telemetry.Telemetry) (_ transport.Transport, end func(), _ error) {
	switch os.Getenv("MCPOTEL_WAY") {
	case "proxied":
	case "piped":
		return transport.Stdio{Command: os.Getenv("MCPOTEL_COMMAND"), Args: []string{"proxy", "--url", server.URL}},
			func() {}, nil
	default:
		return server, func() {}, nil
	}
	p, err := mcpproxy.New(server, &mcpproxy.Options{Telemetry: tel})
	if err != nil {
		return nil, nil, err
	}
	h := p.HTTPHandler(nil)
	web := httptest.NewServer(h)
	return &transport.HTTP{URL: web.URL}, func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = h.Shutdown(ctx) // the process is about to end
		web.Close()
	}, nil
}

// witness records why the authorization of the proxy failed, because the client receives only the text of the error.
type witness struct {
	*auth.Authorizer
	why atomic.Pointer[auth.Error]
}

func (w *witness) Review(resp *http.Response, attempt int) (again bool, err error) {
	again, err = w.Authorizer.Review(resp, attempt)
	if why, ok := errors.AsType[*auth.Error](err); ok {
		w.why.Store(why)
	}
	return again, err
}

// explain returns err, an error of the client, together with the recorded cause.
func (w *witness) explain(err error) error {
	if why := w.why.Load(); err != nil && why != nil && os.Getenv("MCPOTEL_WAY") == "proxied" {
		return errors.Join(err, why)
	}
	return err
}
