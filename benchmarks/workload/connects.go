package workload

import (
	"context"
	"fmt"
	"testing"
)

// Connects runs the benchmark of the whole life of a client: connecting, for stdio to a child that is started for it,
// one call, and closing. The CPU time of stdio is that of the child, too, which is the same for all.
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
	repeat(b, 1, func() error {
		client, err := p.Connect(context.Background(), t, c)
		if err != nil {
			return err
		}
		n, err := client.Call(context.Background(), TinyTool)
		if err := p.check(call, n, err); err != nil {
			return err
		}
		return client.Close()
	})
}
