package benchmarks

import (
	"encoding/json"
	"fmt"
	"testing"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/mcpotel/mcpotel/benchmarks/workload"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
)

var sizes = []int{workload.Tiny, workload.KiB, 10 * workload.KiB, 100 * workload.KiB, workload.MiB, 10 * workload.MiB,
	workload.Limit}

// BenchmarkEnvelope finds the id in the frame of an answer, and the position of the result. v1 and v2 validate the
// whole frame for this; ours leaves the result to the decoder, which BenchmarkDecode measures. So there is no rate in
// MB/s.
func BenchmarkEnvelope(b *testing.B) {
	for _, s := range []workload.Shape{workload.Text, workload.Structured} {
		for _, size := range sizes {
			name := fmt.Sprintf("shape=%s/size=%s/peer=", s, workload.SizeName(size))
			b.Run(name+"ours", func(b *testing.B) {
				frame := payload(b, s, size).Frame
				each(b, 0, func() error {
					m, err := jsonrpc.Parse(frame)
					if err == nil && m.Kind != jsonrpc.Result {
						err = errWrong
					}
					return err
				})
			})
			b.Run(name+"v1", func(b *testing.B) {
				frame := payload(b, s, size).Frame
				each(b, 0, func() error {
					var m struct {
						JSONRPC string          `json:"jsonrpc"`
						ID      json.RawMessage `json:"id"`
						Method  string          `json:"method"`
						Params  json.RawMessage `json:"params"`
						Result  json.RawMessage `json:"result"`
						Error   json.RawMessage `json:"error"`
					}
					err := json.Unmarshal(frame, &m)
					if err == nil && m.Result == nil {
						err = errWrong
					}
					return err
				})
			})
			b.Run(name+"v2", func(b *testing.B) {
				frame := payload(b, s, size).Frame
				each(b, 0, func() error {
					var m struct {
						JSONRPC string         `json:"jsonrpc"`
						ID      jsontext.Value `json:"id"`
						Method  string         `json:"method"`
						Params  jsontext.Value `json:"params"`
						Result  jsontext.Value `json:"result"`
						Error   jsontext.Value `json:"error"`
					}
					err := jsonv2.Unmarshal(frame, &m)
					if err == nil && m.Result == nil {
						err = errWrong
					}
					return err
				})
			})
		}
	}
}
