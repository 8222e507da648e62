package workload

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

// Records is the user's type of the structured content of a [Structured] result.
type Records struct {
	Records []struct {
		ID     int      `json:"id"`
		Name   string   `json:"name"`
		Tags   []string `json:"tags"`
		Score  float64  `json:"score"`
		Active bool     `json:"active"`
		Parent *int     `json:"parent"`
		At     struct {
			X int `json:"x"`
			Y int `json:"y"`
		} `json:"at"`
	} `json:"records"`
	Note string `json:"note"`
}

// recordCaller is a client that returns the structured content of a call in the user's type.
type recordCaller interface {
	Records(ctx context.Context, tool string) (*Records, error)
}

// Outputs benchmarks a call with structured content, decoded into the user's struct. Ours validates the content with
// the schema that the server has listed, which the client keeps. The other peers validate nothing.
func Outputs(b *testing.B, peers ...Peer) {
	for _, size := range []int{KiB, 10 * KiB, 100 * KiB} {
		canned := Canned{Modern, Structured, size}
		for _, p := range peers {
			b.Run(fmt.Sprintf("transport=pipe/era=%s/shape=structured/size=%s/peer=%s", canned.Era, SizeName(size), p.Name),
				func(b *testing.B) { outputs(b, p, canned) })
		}
	}
}

func outputs(b *testing.B, p Peer, canned Canned) {
	client, err := p.Connect(context.Background(), Pipe, canned)
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := client.Close(); err != nil {
			b.Error(err)
		}
	}()
	c := client.(*served).Client.(recordCaller)
	b.SetBytes(int64(canned.Size))
	repeat(b, 1, func(ctx context.Context) error {
		r, err := c.Records(ctx, TinyTool)
		if err == nil && (len(r.Records) == 0 || r.Records[0].Name != "record 0") {
			err = errors.New("the records differ from the server's")
		}
		return err
	})
}
