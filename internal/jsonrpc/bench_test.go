package jsonrpc_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mcpotel/mcpotel/internal/jsonrpc"
)

func BenchmarkParse(b *testing.B) {
	for _, size := range []int{200, 1 << 20, 16<<20 - 1} {
		body := `{"content":[{"type":"text","text":"` + strings.Repeat("x", size) + `"}]}`
		for name, frame := range map[string]string{
			"id=first": `{"jsonrpc":"2.0","id":4711,"result":` + body + `}`,
			"id=last":  `{"result":` + body + `,"jsonrpc":"2.0","id":4711}`,
			"request":  `{"jsonrpc":"2.0","id":4711,"method":"tools/call","params":` + body + `}`,
		} {
			b.Run(fmt.Sprintf("%s/size=%d", name, size), func(b *testing.B) {
				frame := []byte(frame)
				b.ReportAllocs()
				for b.Loop() {
					if _, err := jsonrpc.Parse(frame); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// params is the params of a call with raw arguments. The request has 427 bytes, including metadata.
const params = `{"name":"search_documents","arguments":{"query":"state machine of a client with reconnects and ` +
	`timeout","limit":25,"filter":{"language":"en","tags":["go","mcp"]}}}`

const session = `{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
	`"io.modelcontextprotocol/clientInfo":{"name":"app","version":"1.0"}}`

const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

func BenchmarkAppendRequest(b *testing.B) {
	constant, err := jsonrpc.NewConstant([]byte(session))
	if err != nil {
		b.Fatal(err)
	}
	meta := jsonrpc.Meta{Const: constant, Traceparent: traceparent}
	withMeta := strings.Replace(params, `{`, `{"_meta":{"app":"x"},`, 1)
	for name, params := range map[string][]byte{"plain": []byte(params), "splice": []byte(withMeta)} {
		b.Run(name, func(b *testing.B) {
			var dst []byte
			b.ReportAllocs()
			for b.Loop() {
				if dst, err = jsonrpc.AppendRequest(dst[:0], jsonrpc.IntID(4711), "tools/call", meta, params); err != nil {
					b.Fatal(err)
				}
			}
			b.SetBytes(int64(len(dst)))
			b.ReportMetric(float64(len(dst)), "B/frame")
		})
	}
}

func BenchmarkParams(b *testing.B) {
	constant, err := jsonrpc.NewConstant([]byte(session))
	if err != nil {
		b.Fatal(err)
	}
	frame, err := jsonrpc.AppendRequest(nil, jsonrpc.IntID(1), "tools/call",
		jsonrpc.Meta{Const: constant, Traceparent: traceparent}, []byte(params))
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(frame)))
	b.ReportAllocs()
	for b.Loop() {
		m, err := jsonrpc.Parse(frame)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := m.Params(); err != nil {
			b.Fatal(err)
		}
	}
}
