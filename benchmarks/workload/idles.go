package workload

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"testing"
	"time"
)

// Idles benchmarks clients that have made one call and wait. An op creates all clients. B/client is the growth of heap
// and stacks, and goroutines/client the growth of goroutines. The servers are not included: the server of pipe is a
// function that the client's writes call, and the server of HTTP closes each connection after its answer, because a
// connection of net/http has two goroutines and two buffers on each side. B/client-at-once and
// goroutines/client-at-once are measured right after the last client has made its call, on a quiet machine within two
// seconds of the first of a thousand.
func Idles(b *testing.B, peers ...Peer) {
	for _, t := range []Transport{Pipe, HTTPJSON} {
		for _, n := range []int{1000, 10000} {
			for _, p := range peers {
				if p.Has(t) {
					b.Run(fmt.Sprintf("transport=%s/era=%s/clients=%d/peer=%s", t, Modern, n, p.Name), func(b *testing.B) {
						IdleClients(b, p, t, n)
					})
				}
			}
		}
	}
}

// IdlesAsUsed is like [Idles], for a thousand clients over HTTP that have been used in a typical way: they have listed
// the tools and made three calls with a map. It does not wait for lingering goroutines.
func IdlesAsUsed(b *testing.B, peers ...Peer) {
	for _, e := range Eras {
		for _, own := range []bool{false, true} {
			for _, p := range peers {
				name := fmt.Sprintf("transport=%s/era=%s/clients=1000/arguments=map", HTTPJSON, e)
				if own {
					name += "/client=own"
				}
				if p.HTTP != nil {
					b.Run(name+"/peer="+p.Name, func(b *testing.B) { IdleClientsAsUsed(b, p, e, own) })
				}
			}
		}
	}
}

// IdleClientsAsUsed is one of the benchmarks of [IdlesAsUsed]. If own is true, all clients share one http.Client of the
// user.
func IdleClientsAsUsed(b *testing.B, p Peer, e Era, own bool) {
	defer dialWithoutTimeout()()
	url, stop, err := listenOnce(Canned{e, Text, Tiny}, 0)
	if err != nil {
		b.Fatal(err)
	}
	defer stop()
	ctx := WithArguments(WithEra(context.Background(), e), HelloMap)
	if own {
		ctx = WithHTTPClient(ctx, &http.Client{Transport: new(http.Transport)})
	}
	idle(b, 1000, passing, func() (func() error, error) {
		client, err := p.HTTP(ctx, url)
		if err != nil {
			return nil, err
		}
		_, err = client.List(ctx)
		for range 3 {
			_, failed := client.Call(ctx, TinyTool)
			err = errors.Join(err, failed)
		}
		return client.Close, err
	})
}

// IdleServers is like [Idles], for legacy sessions of servers, each with one call.
func IdleServers(b *testing.B, servers ...Server) {
	for _, n := range []int{1000, 10000} {
		for _, s := range servers {
			if s.Pipe != nil {
				b.Run(fmt.Sprintf("transport=pipe/era=%s/clients=%d/peer=%s", Legacy, n, s.Name), func(b *testing.B) {
					Idle(b, n, func() (func() error, error) { return idleSession(s) })
				})
			}
		}
	}
}

// IdleClients is one of the benchmarks of [Idles].
func IdleClients(b *testing.B, p Peer, t Transport, n int) {
	canned := Canned{Modern, Text, Tiny}
	call, _ := canned.sizes()
	// No more than a thousand clients on one address: the ports of closed connections are not free at once.
	var urls []string
	if t == HTTPJSON {
		defer dialWithoutTimeout()()
		for i := range n / 1000 {
			url, stop, err := listenOnce(canned, i)
			if err != nil {
				b.Fatal(err)
			}
			defer stop()
			urls = append(urls, url)
		}
	}
	made := 0
	Idle(b, n, func() (func() error, error) {
		ctx := WithEra(context.Background(), Modern)
		var client Client
		var err error
		if t == Pipe {
			near := newNear(canned)
			client, err = p.Pipe(ctx, near, near)
		} else {
			client, err = p.HTTP(ctx, urls[made%len(urls)])
			made++
		}
		if err != nil {
			return nil, err
		}
		got, err := client.Call(ctx, TinyTool)
		return client.Close, errors.Join(p.check(call, got, err))
	})
}

// dialWithoutTimeout removes the timeout of net/http's dials; before restores it. A dial stops its timer at once, but
// the runtime keeps stopped timers, with everything they refer to, until they are a quarter of all timers or half a
// minute old: sometimes up to 0.6 KiB for each client, which is not memory of an idle client.
func dialWithoutTimeout() (before func()) {
	shared := http.DefaultTransport.(*http.Transport)
	dial := shared.DialContext
	shared.DialContext = (&net.Dialer{}).DialContext
	return func() { shared.DialContext = dial }
}

// listenOnce serves on the i-th of many loopback addresses, if available, with one request on each connection.
func listenOnce(c Canned, i int) (url string, stop func(), err error) {
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.%d:0", 2+i))
	if err != nil {
		l, err = net.Listen("tcp", "127.0.0.1:0")
	}
	if err != nil {
		return "", nil, err
	}
	srv := &http.Server{Handler: c.Handler(JSON)}
	srv.SetKeepAlivesEnabled(false)
	url, stop = serve(l, srv)
	return url, stop, nil
}

// Idle creates n objects in each op, and reports their memory at once and while they wait. It creates and stops one
// object first, so that memory which a process needs only once does not count.
func Idle(b *testing.B, n int, newOne func() (stop func() error, err error)) {
	idle(b, n, lingering, newOne)
}

// idle is like [Idle], but waits until the number of goroutines has not changed for the time quiet.
func idle(b *testing.B, n int, quiet time.Duration, newOne func() (stop func() error, err error)) {
	stops := make([]func() error, n)
	var first, last held
	if stop, err := newOne(); err != nil {
		b.Fatal(err)
	} else if err := stop(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		before := settle(quiet)
		for i := range stops {
			stop, err := newOne()
			if err != nil {
				b.Fatal(err)
			}
			stops[i] = stop
		}
		time.Sleep(passing)
		first = holding(runtime.NumGoroutine()).minus(before)
		last = settle(quiet).minus(before)
		for _, stop := range stops {
			if err := stop(); err != nil {
				b.Fatal(err)
			}
		}
	}
	first.report(b, n, "-at-once")
	last.report(b, n, "")
}

type held struct{ heap, stacks, goroutines int }

func (h held) minus(o held) held {
	return held{h.heap - o.heap, h.stacks - o.stacks, h.goroutines - o.goroutines}
}

// report reports the memory of each of n objects. Without goroutines it omits stacks: the runtime keeps the stacks of
// ended goroutines, up to a MiB or two, and frees them at any time.
func (h held) report(b *testing.B, n int, when string) {
	bytes := h.heap
	if h.goroutines >= n {
		bytes += h.stacks
	}
	b.ReportMetric(float64(bytes)/float64(n), "B/client"+when)
	b.ReportMetric(float64(h.goroutines)/float64(n), "goroutines/client"+when)
}

// passing is long enough for goroutines that end with a call: closed connections, returning handlers.
const passing = 50 * time.Millisecond

// lingering is longer than any peer's goroutines wait for more work.
const lingering = 2500 * time.Millisecond

// settle waits until the number of goroutines has not changed for this time, for at most 20 s, and returns the memory
// of the process.
func settle(quiet time.Duration) held {
	const tick = 10 * time.Millisecond
	last, same := -1, time.Duration(0)
	for waited := time.Duration(0); waited < 20*time.Second && same < quiet; waited += tick {
		if n := runtime.NumGoroutine(); n == last {
			same += tick
		} else {
			last, same = n, 0
		}
		time.Sleep(tick)
	}
	return holding(last)
}

// holding returns the memory of the process, with this number of goroutines.
func holding(goroutines int) held {
	for range 3 { // the second collection empties the pools; each collection shrinks stacks
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return held{int(m.HeapAlloc), int(m.StackInuse), goroutines}
}
