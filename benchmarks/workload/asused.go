package workload

import (
	"context"
	"net/http"
	"runtime"
	"testing"
)

// The ways to use a client that people have, beside the best one.
var (
	// mapArguments has calls with a map: of those who learn of tools when they run.
	mapArguments = use{"arguments=map", func(ctx context.Context) (context.Context, func()) {
		return WithArguments(ctx, HelloMap), func() {}
	}}

	// ownClient has an http.Client of the user's, with room for all callers.
	ownClient = use{"client=own", func(ctx context.Context) (context.Context, func()) {
		return WithHTTPClient(ctx, &http.Client{Transport: roomy()}), func() {}
	}}

	// wrappedClient has one whose RoundTripper is of a type of its own, as those have that authorize or observe.
	wrappedClient = use{"client=wrapped", func(ctx context.Context) (context.Context, func()) {
		return WithHTTPClient(ctx, &http.Client{Transport: &wrapped{roomy()}}), func() {}
	}}

	// largeHeap has a process that holds 100 MiB of other things, so that the collector runs less often and longer.
	largeHeap = use{"heap=100MiB", func(ctx context.Context) (context.Context, func()) {
		held := make([]*[128]byte, 100*MiB/128)
		for i := range held {
			held[i] = new([128]byte)
		}
		return ctx, func() { runtime.KeepAlive(held) }
	}}
)

func roomy() *http.Transport { return &http.Transport{MaxIdleConnsPerHost: 1024} }

type wrapped struct{ next *http.Transport }

func (w *wrapped) RoundTrip(r *http.Request) (*http.Response, error) { return w.next.RoundTrip(r) }
func (w *wrapped) CloseIdleConnections()                             { w.next.CloseIdleConnections() }

// asUsed returns calls as people make them: with maps, by HTTP clients of their own, in large heaps, with results of
// the sizes that tools return.
func asUsed() (all []roundtrip) {
	add := func(t Transport, e Era, s Shape, size, callers int, u use) {
		all = append(all, roundtrip{t, Canned{e, s, size}, callers, u})
	}
	for _, e := range Eras {
		for _, t := range []Transport{Stdio, HTTPJSON} {
			for _, callers := range []int{1, 64} {
				add(t, e, Text, Tiny, callers, mapArguments)
			}
			add(t, e, Text, Tiny, 1, largeHeap)
		}
		for _, u := range []use{ownClient, wrappedClient} {
			for _, callers := range []int{1, 64} {
				add(HTTPJSON, e, Text, Tiny, callers, u)
			}
			add(HTTPSSE, e, Text, Tiny, 1, u)
		}
	}
	for _, t := range []Transport{Stdio, HTTPJSON} {
		for _, s := range []Shape{Text, Items} {
			for _, size := range []int{4 * KiB, 16 * KiB, 64 * KiB, 256 * KiB} {
				add(t, Modern, s, size, 1, use{})
			}
		}
	}
	add(Stdio, Modern, Text, 100*KiB, 1, largeHeap)
	return all
}

// AsUsed runs calls as people make them, like [Roundtrips].
func AsUsed(b *testing.B, peers ...Peer) { runAll(b, asUsed(), peers) }
