package benchmarks

import (
	"encoding/json"
	"fmt"
	"testing"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/mcp"
)

// The contents of a request of 427 bytes.
const (
	searchArguments = `{"query":"state machine of a client with reconnects and timeout","limit":25,` +
		`"filter":{"language":"en","tags":["go","mcp"]}}`
	sessionMeta = `{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientInfo":{"name":"app","version":"1.0"}}`
	traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	requestSize = 427
)

type search struct {
	Query  string       `json:"query"`
	Limit  int          `json:"limit"`
	Filter searchFilter `json:"filter"`
}

type searchFilter struct {
	Language string   `json:"language"`
	Tags     []string `json:"tags"`
}

var typedSearch = &search{"state machine of a client with reconnects and timeout", 25,
	searchFilter{"en", []string{"go", "mcp"}}}

// plainRequest is the type that v1 and v2 encode.
type plainRequest struct {
	JSONRPC string      `json:"jsonrpc"`
	ID      int64       `json:"id"`
	Method  string      `json:"method"`
	Params  plainParams `json:"params"`
}

type plainParams struct {
	Meta      plainMeta `json:"_meta"`
	Name      string    `json:"name"`
	Arguments any       `json:"arguments"`
}

type plainMeta struct {
	ProtocolVersion string              `json:"io.modelcontextprotocol/protocolVersion"`
	ClientInfo      plainImplementation `json:"io.modelcontextprotocol/clientInfo"`
	Traceparent     string              `json:"traceparent"`
}

type plainImplementation struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// BenchmarkEncode encodes a request, with the session's metadata and a trace context. The floor copies an encoded
// request. v1 and v2 encode one typed value; ours appends to a buffer that it reuses, as the client does.
func BenchmarkEncode(b *testing.B) {
	for _, a := range []struct {
		name string
		v    any
	}{{"raw", json.RawMessage(searchArguments)}, {"struct", typedSearch}} {
		name := fmt.Sprintf("shape=%s/size=%dB/peer=", a.name, requestSize)
		request := func() *plainRequest {
			return &plainRequest{"2.0", 4711, "tools/call", plainParams{
				plainMeta{"2026-07-28", plainImplementation{"app", "1.0"}, traceparent}, "search_documents", a.v,
			}}
		}
		b.Run(name+"floor", func(b *testing.B) {
			ready, err := oursEncode(b)(a.v)
			if err != nil {
				b.Fatal(err)
			}
			ready, dst := append([]byte(nil), ready...), []byte(nil)
			encodes(b, func() ([]byte, error) {
				dst = append(dst[:0], ready...)
				return dst, nil
			})
		})
		b.Run(name+"v1", func(b *testing.B) {
			encodes(b, func() ([]byte, error) { return json.Marshal(request()) })
		})
		b.Run(name+"v2", func(b *testing.B) {
			encodes(b, func() ([]byte, error) { return jsonv2.Marshal(request()) })
		})
		b.Run(name+"ours", func(b *testing.B) {
			encode := oursEncode(b)
			encodes(b, func() ([]byte, error) { return encode(a.v) })
		})
	}
}

func encodes(b *testing.B, encode func() ([]byte, error)) {
	each(b, requestSize, func() error {
		frame, err := encode()
		if err == nil && len(frame) != requestSize {
			err = fmt.Errorf("want %d bytes, got %d: %s", requestSize, len(frame), frame)
		}
		return err
	})
}

// oursEncode returns a function that encodes a call as the client does.
func oursEncode(b *testing.B) func(arguments any) ([]byte, error) {
	constant, err := jsonrpc.NewConstant([]byte(sessionMeta))
	if err != nil {
		b.Fatal(err)
	}
	meta := jsonrpc.Meta{Const: constant, Traceparent: traceparent}
	var params, frame []byte
	return func(arguments any) ([]byte, error) {
		p := mcp.CallToolParams{Name: "search_documents", Arguments: arguments}
		if params, err = mcp.AppendParams(params[:0], &p); err != nil {
			return nil, err
		}
		frame, err = jsonrpc.AppendOwnRequest(frame[:0], jsonrpc.IntID(4711), "tools/call", meta, params)
		return frame, err
	}
}
