package workload

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"testing"
)

// roundtrip is a case: calls to one kind of canned server, by a number of concurrent callers.
type roundtrip struct {
	transport Transport
	canned    Canned
	callers   int
	use       Use
}

func (r roundtrip) String() string {
	size := SizeName(r.canned.Size)
	if r.canned.Shape == Tools {
		size = fmt.Sprint(r.canned.Size)
	}
	name := fmt.Sprintf("transport=%s/era=%s/shape=%s/size=%s/callers=%d", r.transport, r.canned.Era, r.canned.Shape,
		size, r.callers)
	if r.use.Name != "" {
		name += "/" + r.use.Name
	}
	return name
}

// roundtrips returns all cases: tiny calls over all transports, results by size and shape, and a page of tools.
func roundtrips() (all []roundtrip) {
	add := func(t Transport, e Era, s Shape, size, callers int) {
		all = append(all, roundtrip{transport: t, canned: Canned{e, s, size}, callers: callers})
	}
	for _, t := range Transports {
		for _, e := range Eras {
			for _, callers := range []int{1, 8, 64, 512} {
				if t != HTTPSSE || callers == 1 || callers == 64 {
					add(t, e, Text, Tiny, callers)
				}
			}
		}
	}
	for _, size := range []int{KiB, 10 * KiB, 100 * KiB, MiB, 10 * MiB, Limit} {
		add(Stdio, Modern, Text, size, 1)
	}
	for _, size := range []int{KiB, 100 * KiB, MiB, Limit} {
		add(Stdio, Modern, Items, size, 1)
	}
	for _, s := range []Shape{Escaped, Structured, Image} {
		add(Stdio, Modern, s, MiB, 1)
		add(Stdio, Modern, s, Limit, 1)
	}
	for _, t := range []Transport{HTTPJSON, HTTPSSE} {
		add(t, Modern, Text, MiB, 1)
		add(t, Modern, Text, Limit, 1)
	}
	for _, t := range []Transport{Stdio, HTTPJSON} {
		add(t, Modern, Tools, 100, 1)
		add(t, Modern, Tools, 1000, 1)
	}
	return all
}

// Roundtrips runs every benchmark of whole calls; in each case it measures one peer after the other. The figures for
// stdio include only the client. The figures for other transports include the canned server, which allocates almost
// nothing except in net/http.
func Roundtrips(b *testing.B, peers ...Peer) { runAll(b, roundtrips(), peers) }

// TinyRoundtrips runs the tiny calls of one caller from [Roundtrips], except SSE, which is like HTTP with JSON.
func TinyRoundtrips(b *testing.B, peers ...Peer) {
	runAll(b, slices.DeleteFunc(roundtrips(), func(r roundtrip) bool {
		return r.canned.Shape != Text || r.canned.Size != Tiny || r.callers != 1 || r.transport == HTTPSSE
	}), peers)
}

// TextRoundtrips runs the benchmarks of [TinyRoundtrips], and the largest text.
func TextRoundtrips(b *testing.B, peers ...Peer) {
	runAll(b, slices.DeleteFunc(roundtrips(), func(r roundtrip) bool {
		return r.canned.Shape != Text || r.canned.Size != Tiny && r.canned.Size != Limit || r.callers != 1 ||
			r.transport == HTTPSSE || r.transport == Pipe
	}), peers)
}

func runAll(b *testing.B, cases []roundtrip, peers []Peer) {
	for _, r := range cases {
		for _, p := range peers {
			if p.Has(r.transport) {
				b.Run(r.String()+"/peer="+p.Name, func(b *testing.B) { r.run(b, p) })
			}
		}
	}
}

func (r roundtrip) run(b *testing.B, p Peer) {
	connection := WithCallers(context.Background(), r.callers)
	if r.use.With != nil {
		with, end, err := r.use.With(connection)
		if err != nil {
			b.Fatal(err)
		}
		defer end()
		connection = with
	}
	client, err := p.Connect(connection, r.transport, r.canned)
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := client.Close(); err != nil {
			b.Error(err)
		}
	}()
	call, list := r.canned.sizes()
	payload := call
	one := func(ctx context.Context) error {
		n, err := client.Call(ctx, TinyTool)
		return p.check(payload, n, err)
	}
	if r.canned.Shape == Tools {
		payload = list
		one = func(ctx context.Context) error {
			n, err := client.List(ctx)
			return p.check(payload, n, err)
		}
	}
	if err := together(r.callers, r.callers*3, one); err != nil { // so that connections and buffers exist
		b.Fatal(err)
	}
	b.SetBytes(int64(payload.Size))
	repeat(b, r.callers, one)
	if r.transport == Stdio && payload.Size >= MiB {
		reportPeak(b, payload.Size, one)
	}
}

// check fails the benchmark if n is wrong.
func (p Peer) check(payload Payload, n int, err error) error {
	if err == nil && !p.Right(payload, n) {
		err = fmt.Errorf("want %d bytes or tools, got %d", payload.Content+payload.Tools, n)
	}
	return err
}

// repeat measures f with a number of concurrent goroutines, each with a cancellable context, as in services.
func repeat(b *testing.B, callers int, f func(context.Context) error) {
	runtime.GC()
	b.ReportAllocs()
	if callers == 1 {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		cpu := StartCPU()
		for b.Loop() {
			if err := f(ctx); err != nil {
				b.Fatal(err)
			}
		}
		cpu.Report(b)
		return
	}
	b.ResetTimer()
	cpu := StartCPU()
	err := together(callers, b.N, f)
	cpu.Report(b)
	b.StopTimer()
	if err != nil {
		b.Fatal(err)
	}
}

// together calls f n times in all, in a number of goroutines, and returns the first error of f.
func together(callers, n int, f func(context.Context) error) error {
	errs := make(chan error, callers)
	for i := range callers {
		go func() {
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			for range share(n, i, callers) {
				if err := f(ctx); err != nil {
					errs <- err
					return
				}
			}
			errs <- nil
		}()
	}
	var first error
	for range callers {
		if err := <-errs; first == nil {
			first = err
		}
	}
	return first
}

// share returns the part of n calls that the i-th goroutine makes.
func share(n, i, of int) int { return n*(i+1)/of - n*i/of }

// reportPeak reports peak-x: the maximum growth of the process's memory while four answers are received and dropped,
// divided by the size of an answer.
func reportPeak(b *testing.B, size int, f func(context.Context) error) {
	b.StopTimer()
	peak, ok := PeakResident(func() {
		for range 4 {
			if err := f(context.Background()); err != nil {
				b.Fatal(err)
			}
		}
	})
	if ok {
		b.ReportMetric(float64(peak)/float64(size), "peak-x")
	}
}
