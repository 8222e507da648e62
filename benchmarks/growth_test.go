package benchmarks

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/benchmarks/workload"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

// BenchmarkGrowth measures tiny calls on a pipe, one after the other. The client has made many calls before, or
// remembers many abandoned calls. Neither may change the cost of a call.
func BenchmarkGrowth(b *testing.B) {
	for _, made := range []int{1, 1000, 100_000} {
		b.Run(fmt.Sprintf("made=%d/peer=ours", made), func(b *testing.B) {
			c := grown(b)
			for range made {
				tiny(b, c)
			}
			grows(b, c)
		})
	}
	for _, tombstones := range []int{1, 100, 10_000} {
		b.Run(fmt.Sprintf("tombstones=%d/peer=ours", tombstones), func(b *testing.B) {
			c := grown(b)
			for c.Inspect().Tombstones < tombstones {
				_, err := c.CallTool(b.Context(), workload.TinyTool, workload.Hello, mcpclient.WithTimeout(time.Nanosecond))
				if err != nil && !errors.Is(err, mcpclient.ErrTimeout) {
					b.Fatal(err)
				}
			}
			grows(b, c)
		})
	}
}

func grows(b *testing.B, c *mcpclient.Client) {
	each(b, 0, func() error {
		_, err := c.CallTool(b.Context(), workload.TinyTool, workload.Hello)
		return err
	})
}

func tiny(b *testing.B, c *mcpclient.Client) {
	if _, err := c.CallTool(b.Context(), workload.TinyTool, workload.Hello); err != nil {
		b.Fatal(err)
	}
}

// grown returns a client of a canned server.
func grown(b *testing.B) *mcpclient.Client {
	r, w, wait, err := workload.Canned{Era: workload.Modern, Shape: workload.Text, Size: workload.Tiny}.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	c, err := mcpclient.Connect(b.Context(), workload.Streams(r, w), &mcpclient.Options{
		ClientInfo: mcp.Implementation{Name: "ours", Version: "1.0"}, Telemetry: telemetry.New(),
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := c.Close(); err != nil {
			b.Error(err)
		}
		wait()
	})
	return c
}
