package benchmarks

import (
	"fmt"
	"testing"

	"github.com/mcpotel/mcpotel/benchmarks/workload"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

// records is what the Structured results of a canned server say.
type records struct {
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

// BenchmarkOutput is a call whose result becomes a struct of the user's, checked against the schema that the server has
// listed for it, which ours keeps: CallToolAs. floorjson keeps the structured content as it is, and checks nothing but
// that it is JSON.
func BenchmarkOutput(b *testing.B) {
	for _, size := range []int{workload.KiB, 10 * workload.KiB, 100 * workload.KiB} {
		canned := workload.Canned{Era: workload.Modern, Shape: workload.Structured, Size: size}
		name := fmt.Sprintf("transport=pipe/era=%s/shape=structured/size=%s/peer=", canned.Era, workload.SizeName(size))
		for _, p := range []workload.Peer{workload.Floor, workload.FloorJSON} {
			b.Run(name+p.Name, func(b *testing.B) {
				c, err := p.Connect(b.Context(), workload.Pipe, canned)
				if err != nil {
					b.Fatal(err)
				}
				each(b, size, func() error {
					_, err := c.Call(b.Context(), workload.TinyTool)
					return err
				})
				if err := c.Close(); err != nil {
					b.Error(err)
				}
			})
		}
		b.Run(name+workload.Ours.Name, func(b *testing.B) { typed(b, canned) })
	}
}

func typed(b *testing.B, canned workload.Canned) {
	r, w, wait, err := canned.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	defer wait()
	c, err := mcpclient.Connect(b.Context(), workload.Streams(r, w), &mcpclient.Options{
		ClientInfo: mcp.Implementation{Name: "ours", Version: "1.0"}, Telemetry: telemetry.New(),
	})
	if err != nil {
		b.Fatal(err)
	}
	each(b, canned.Size, func() error {
		out, err := mcpclient.CallToolAs[records](b.Context(), c, workload.TinyTool, workload.Hello)
		if err == nil && (len(out.Records) == 0 || out.Records[0].Name != "record 0") {
			err = errWrong
		}
		return err
	})
	if err := c.Close(); err != nil {
		b.Error(err)
	}
}
