package workload

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"time"
)

// Connects benchmarks the whole life of a client: connecting (for stdio to a new child), one call, and closing. The CPU
// time of stdio includes the child's, which is the same for all peers.
func Connects(b *testing.B, peers ...Peer) {
	for _, t := range []Transport{Stdio, Pipe, HTTPJSON} {
		for _, e := range Eras {
			for _, p := range peers {
				if p.Has(t) {
					b.Run(fmt.Sprintf("transport=%s/era=%s/peer=%s", t, e, p.Name), func(b *testing.B) { connects(b, p, t, e) })
				}
			}
		}
	}
}

func connects(b *testing.B, p Peer, t Transport, e Era) {
	c := Canned{e, Text, Tiny}
	call, _ := c.sizes()
	repeat(b, 1, func(ctx context.Context) error {
		client, err := p.Connect(ctx, t, c)
		if err != nil {
			return err
		}
		n, err := client.Call(ctx, TinyTool)
		if err := p.check(call, n, err); err != nil {
			return err
		}
		return client.Close()
	})
}

// fresh is the number of clients that make their first calls in an op of FirstCalls.
const fresh = 64

// FirstCalls benchmarks the first call of a connected client: an op is one call of each of 64 clients, one after the
// other. Creating and closing the clients is not measured.
func FirstCalls(b *testing.B, peers ...Peer) {
	for _, t := range []Transport{Pipe, HTTPJSON} {
		for _, p := range peers {
			if p.Has(t) {
				b.Run(fmt.Sprintf("transport=%s/era=%s/clients=%d/peer=%s", t, Modern, fresh, p.Name), func(b *testing.B) {
					firstCalls(b, p, t)
				})
			}
		}
	}
}

func firstCalls(b *testing.B, p Peer, t Transport) {
	c := Canned{Modern, Text, Tiny}
	call, _ := c.sizes()
	b.ReportAllocs()
	var spent time.Duration
	for b.Loop() {
		b.StopTimer()
		all := make(several, fresh)
		for range fresh {
			client, err := p.Connect(context.Background(), t, c)
			if err != nil {
				b.Fatal(errors.Join(err, all.Close()))
			}
			all <- client
		}
		runtime.GC() // exclude the garbage of their creation
		b.StartTimer()
		cpu := StartCPU()
		for range fresh {
			n, err := all.Call(context.Background(), TinyTool)
			if err := p.check(call, n, err); err != nil {
				b.Fatal(err)
			}
		}
		spent += cpu.Spent()
		b.StopTimer()
		if err := all.Close(); err != nil {
			b.Error(err)
		}
		b.StartTimer()
	}
	if spent > 0 {
		b.ReportMetric(float64(spent)/float64(b.N), "cpu-ns/op")
	}
}
