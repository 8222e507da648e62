package workload

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"
	"net/http/httptest"
	"runtime"
	"sync"
)

// Use is a way to use a client that differs from the fastest way.
type Use struct {
	Name string // an element of the benchmark's name; empty for the fastest way

	// With returns the context for the connection, and a function that releases its resources.
	With func(ctx context.Context) (context.Context, func(), error)
}

// giving returns a use that only changes the context of the connection.
func giving(name string, with func(ctx context.Context) context.Context) Use {
	return Use{name, func(ctx context.Context) (context.Context, func(), error) { return with(ctx), func() {}, nil }}
}

// The common ways to use a client, besides the fastest way.
var (
	// Callers that discover tools at run time pass a map. [Hello] is a pointer to a struct.
	mapArguments = giving("arguments=map", func(ctx context.Context) context.Context {
		return WithArguments(ctx, HelloMap)
	})
	structArguments = giving("arguments=struct", func(ctx context.Context) context.Context {
		return WithArguments(ctx, HelloStruct)
	})
	rawArguments = giving("arguments=raw", func(ctx context.Context) context.Context {
		return WithArguments(ctx, HelloRaw)
	})
	largeArguments = giving("arguments=112KiB", func(ctx context.Context) context.Context {
		return WithArguments(ctx, Code)
	})

	// ownClient uses an http.Client of the user, whose pool has a connection for each caller.
	ownClient = giving("client=own", func(ctx context.Context) context.Context {
		return WithHTTPClient(ctx, &http.Client{Transport: Roomy()})
	})

	// wrappedClient uses an http.Client with a custom RoundTripper, as programs have for authorization or telemetry.
	wrappedClient = giving("client=wrapped", func(ctx context.Context) context.Context {
		return WithHTTPClient(ctx, &http.Client{Transport: &wrapped{Roomy()}})
	})

	// tlsClient and h2Client trust the certificate of a server over TLS with HTTP/1.1 or HTTP/2.
	tlsClient = overTLS("client=tls", false)
	h2Client  = overTLS("client=h2", true)

	// severalClients runs eight clients in one process, each with its own server.
	severalClients = giving("clients=8", func(ctx context.Context) context.Context { return WithClients(ctx, 8) })

	// largeHeap adds 100 MiB to the heap of the process, so that garbage collections are less frequent and take longer.
	largeHeap = Use{"heap=100MiB", func(ctx context.Context) (context.Context, func(), error) {
		held := make([]*[128]byte, 100*MiB/128)
		for i := range held {
			held[i] = new([128]byte)
		}
		return ctx, func() { runtime.KeepAlive(held) }, nil
	}}
)

// Roomy returns a RoundTripper with a pooled connection for each of many callers.
func Roomy() *http.Transport { return &http.Transport{MaxIdleConnsPerHost: 1024} }

type wrapped struct{ next *http.Transport }

func (w *wrapped) RoundTrip(r *http.Request) (*http.Response, error) { return w.next.RoundTrip(r) }
func (w *wrapped) CloseIdleConnections()                             { w.next.CloseIdleConnections() }

func overTLS(name string, http2 bool) Use {
	return giving(name, func(ctx context.Context) context.Context {
		web := Roomy()
		web.TLSClientConfig, web.ForceAttemptHTTP2 = &tls.Config{RootCAs: testRoots()}, http2
		return withListener(WithHTTPClient(ctx, &http.Client{Transport: web}), func(h http.Handler) (string, func(), error) {
			srv := httptest.NewUnstartedServer(h)
			srv.EnableHTTP2 = http2
			srv.StartTLS()
			return srv.URL + "/mcp", srv.Close, nil
		})
	})
}

// testRoots trusts the servers of httptest, which all have the same certificate.
var testRoots = sync.OnceValue(func() *x509.CertPool {
	srv := httptest.NewTLSServer(nil)
	defer srv.Close()
	pool := x509.NewCertPool()
	pool.AddCert(srv.Certificate())
	return pool
})

type listener func(http.Handler) (url string, stop func(), err error)

type listenerKey struct{}

// withListener returns a context for a connection to a canned HTTP server that uses this listener.
func withListener(ctx context.Context, listen listener) context.Context {
	return context.WithValue(ctx, listenerKey{}, listen)
}

func listenerOf(ctx context.Context) listener {
	if listen, ok := ctx.Value(listenerKey{}).(listener); ok {
		return listen
	}
	return Listen
}

type clientsKey struct{}

// WithClients returns a context for n connections, each to its own server.
func WithClients(ctx context.Context, n int) context.Context {
	return context.WithValue(ctx, clientsKey{}, n)
}

func clientsOf(ctx context.Context) int {
	n, _ := ctx.Value(clientsKey{}).(int)
	return max(1, n)
}

// several holds the clients without a call in flight. A call uses the client that has been idle longest.
type several chan Client

func (p Peer) connectSeveral(ctx context.Context, n int, t Transport, c Canned) (Client, error) {
	all := make(several, n)
	for range n {
		client, err := p.Connect(ctx, t, c)
		if err != nil {
			return nil, errors.Join(err, all.Close())
		}
		all <- client
	}
	return all, nil
}

func (s several) Call(ctx context.Context, tool string) (int, error) {
	c := <-s
	defer func() { s <- c }()
	return c.Call(ctx, tool)
}

func (s several) List(ctx context.Context) (int, error) {
	c := <-s
	defer func() { s <- c }()
	return c.List(ctx)
}

// Close must not be called while a call is in flight.
func (s several) Close() (err error) {
	for range len(s) {
		err = errors.Join(err, (<-s).Close())
	}
	return err
}
