// Package soak sends calls through proxies for a long time while their servers fail. It checks the outcome of each
// call, how often its tool ran, and the resources of the proxies' process.
//
// There are three kinds of processes. [Run] runs in the measured process, with a proxy for servers on standard input
// and output and a proxy for servers at a URL. The hosts are in a second process, over a stream and over HTTP, in both
// eras. Each server is a process that records the number of each call before it answers.
package soak

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpclient/transport/chaos"
	"github.com/mcpotel/mcpotel/mcpproxy"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// Options configure [Run].
type Options struct {
	Calls int           // number of calls of all hosts together
	For   time.Duration // time over which the calls are spread
	Every time.Duration // interval of samples
	Plan  *chaos.Plan   // faults between the proxies and their servers; nil for none
	Out   io.Writer     // destination of progress reports; nil for none
}

// OK is the outcome of a successful call.
const OK = "ok"

// Report is the result of a run.
type Report struct {
	Outcomes map[string]int // number of calls by outcome: [OK], or the kind of failure
	Sessions map[string]int // how often each host has become ready
	Runs     Runs
	Samples  []Sample // the first is from before the first call, the last from after the last call
}

// frameLimit is the limit of frames between hosts and proxies, in bytes.
const frameLimit = 1 << 20

// patience is the additional time for the hosts to finish.
const patience = 2 * time.Minute

// Run makes the calls. The program starts itself for the other roles, so its main function must call [Play] first.
func Run(ctx context.Context, o Options) (_ *Report, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, o.For+patience, errors.New("the hosts take too long"))
	defer cancel()
	dir, err := os.MkdirTemp("", "soak")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	far, err := startFar(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer far.stop()
	near := &transport.Stdio{Command: program(), Env: env(roleServer, dir)}
	var ends []end
	for name, t := range map[string]transport.Transport{"stdio": near, "http": &transport.HTTP{URL: far.url}} {
		f, err := front(ctx, name, t, o.Plan)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, f.close()) }()
		ends = append(ends, f.end)
	}
	r := &Report{}
	h, err := startHosts(ctx, job{Ends: ends, Calls: o.Calls, For: o.For})
	if err != nil {
		return nil, err
	}
	watch := newWatch(o.Every, o.Out, h.made)
	said, err := h.wait()
	r.Samples = watch.stop()
	if err != nil {
		return nil, err
	}
	r.Outcomes, r.Sessions = said.Outcomes, said.Sessions
	r.Runs, err = count(filepath.Join(dir, "*"+ledgerSuffix), said.OK, o.Calls)
	return r, err
}

// end has the addresses at which hosts reach a proxy.
type end struct {
	Name   string
	Stream string // address of a TCP listener
	URL    string
}

// proxyFront is a proxy with its listeners for hosts.
type proxyFront struct {
	end
	proxy   *mcpproxy.Proxy
	handler *mcpserver.HTTPHandler
	web     *http.Server
	streams net.Listener
	served  chan struct{} // closed when no stream is served any more
}

// front returns a proxy for the servers behind t.
func front(ctx context.Context, name string, t transport.Transport, plan *chaos.Plan) (*proxyFront, error) {
	if plan != nil {
		var err error
		if t, err = chaos.Wrap(t, plan); err != nil {
			return nil, err
		}
	}
	p, err := mcpproxy.New(t, &mcpproxy.Options{Name: name, Policy: &mcpproxy.Policy{Timeout: 5 * time.Second}})
	if err != nil {
		return nil, err
	}
	f := &proxyFront{proxy: p, handler: p.HTTPHandler(nil), served: make(chan struct{})}
	f.web = &http.Server{Handler: f.handler, ReadHeaderTimeout: 10 * time.Second}
	web, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	if f.streams, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		web.Close()
		return nil, err
	}
	f.end = end{Name: name, Stream: f.streams.Addr().String(), URL: fmt.Sprintf("http://%v/mcp", web.Addr())}
	go f.web.Serve(web)
	go f.serveStreams(ctx)
	return f, nil
}

// serveStreams serves the hosts that connect over TCP.
func (f *proxyFront) serveStreams(ctx context.Context) {
	defer close(f.served)
	var all []chan struct{}
	for {
		c, err := f.streams.Accept()
		if err != nil {
			break
		}
		done := make(chan struct{})
		all = append(all, done)
		go func() {
			defer close(done)
			_ = f.proxy.Serve(ctx, mcpserver.NewStreamConn(c, c, frameLimit)) // the host reports the error
		}()
	}
	for _, done := range all {
		<-done
	}
}

// close waits until all hosts have disconnected.
func (f *proxyFront) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	f.streams.Close()
	<-f.served
	return errors.Join(f.handler.Shutdown(ctx), f.web.Shutdown(ctx))
}
