package jsonrpc_test

import (
	"strings"
	"testing"

	"github.com/mcpotel/mcpotel/internal/jsonrpc"
)

func TestAppendedMessagesParse(t *testing.T) {
	meta := jsonrpc.Meta{Traceparent: traceparent}
	written := func(b []byte, err error) string {
		if err != nil {
			return "error: " + err.Error() + " after " + string(b)
		}
		return string(b)
	}
	dst := func() []byte { return []byte("<") }
	for _, tt := range []struct{ name, got, want string }{
		{"request", written(jsonrpc.AppendRequest(dst(), jsonrpc.IntID(7), "tools/call", meta,
			[]byte("{\n\"name\": \"a\" }"))),
			`<{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"_meta":{"traceparent":"` + traceparent +
				`"},"name": "a"}}`},
		{"request with meta alone", written(jsonrpc.AppendRequest(dst(), jsonrpc.StringID("a\""), "m", meta, nil)),
			`<{"jsonrpc":"2.0","id":"a\"","method":"m","params":{"_meta":{"traceparent":"` + traceparent + `"}}}`},
		{"request without anything", written(jsonrpc.AppendRequest(dst(), jsonrpc.IntID(7), "ping", jsonrpc.Meta{}, nil)),
			`<{"jsonrpc":"2.0","id":7,"method":"ping"}`},
		{"request with empty params",
			written(jsonrpc.AppendRequest(dst(), jsonrpc.IntID(7), "ping", jsonrpc.Meta{}, []byte(` { } `))),
			`<{"jsonrpc":"2.0","id":7,"method":"ping","params":{}}`},
		{"request with broken params", written(jsonrpc.AppendRequest(dst(), jsonrpc.IntID(7), "m", meta, []byte(`{"a":1}}`))),
			`error: params: invalid character '}' at offset 7 after <`},
		{"request with array params", written(jsonrpc.AppendRequest(dst(), jsonrpc.IntID(7), "m", meta, []byte(`[1]`))),
			`error: params: no object at offset 0 after <`},
		{"request with own params", written(
			jsonrpc.AppendOwnRequest(dst(), jsonrpc.IntID(7), "tools/call", meta, []byte(`{"name": "a" }`))),
			`<{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"_meta":{"traceparent":"` + traceparent +
				`"},"name": "a" }}`},
		{"request with own params that have metadata",
			written(jsonrpc.AppendOwnRequest(dst(), jsonrpc.IntID(7), "m", meta,
				[]byte(`{"_meta":{"a":1,"traceparent":"x"},"b":2}`))),
			`<{"jsonrpc":"2.0","id":7,"method":"m","params":{"_meta":{"traceparent":"` + traceparent + `","a":1},"b":2}}`},
		{"request with own params and broken metadata",
			written(jsonrpc.AppendOwnRequest(dst(), jsonrpc.IntID(7), "m", jsonrpc.Meta{User: []byte(`{`)}, []byte(`{"b":2}`))),
			`error: metadata: unexpected end of JSON at offset 1 after <`},
		{"notification", written(jsonrpc.AppendNotification(dst(), "notifications/cancelled", jsonrpc.Meta{},
			[]byte(`{"requestId":7}`))),
			`<{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`},
		{"method is escaped", written(jsonrpc.AppendNotification(dst(), "a\"b\n", jsonrpc.Meta{}, nil)),
			`<{"jsonrpc":"2.0","method":"a\"b\n"}`},
		{"result", written(jsonrpc.AppendResult(dst(), jsonrpc.IntID(7), []byte("\n{\"a\":\r\n1}\n"))),
			`<{"jsonrpc":"2.0","id":7,"result":{"a":  1}}`},
		{"broken result", written(jsonrpc.AppendResult(dst(), jsonrpc.IntID(7), []byte(`{"a"}`))),
			`error: result: invalid character '}' at offset 4 after <`},
		{"empty result", written(jsonrpc.AppendResult(dst(), jsonrpc.IntID(7), nil)),
			`error: result: unexpected end of JSON at offset 0 after <`},
		{"result is no object", written(jsonrpc.AppendResult(dst(), jsonrpc.IntID(7), []byte(`1`))),
			`error: result: not a JSON object after <`},
		{"error", written(jsonrpc.AppendError(dst(), jsonrpc.IntID(7),
			&jsonrpc.WireError{Code: -32601, Message: "no \"m\"", Data: []byte("{\n}")})),
			`<{"jsonrpc":"2.0","id":7,"error":{"code":-32601,"message":"no \"m\"","data":{ }}}`},
		{"error for nobody", written(jsonrpc.AppendError(dst(), jsonrpc.ID{}, &jsonrpc.WireError{Code: -32700})),
			`<{"jsonrpc":"2.0","error":{"code":-32700,"message":""}}`},
		{"error for nobody, with null", written(jsonrpc.AppendError(dst(), jsonrpc.Null, &jsonrpc.WireError{Code: -32700})),
			`<{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":""}}`},
		{"error with broken data", written(
			jsonrpc.AppendError(dst(), jsonrpc.IntID(7), &jsonrpc.WireError{Data: []byte(`}`)})),
			`error: error data: invalid character '}' at offset 0 after <`},
	} {
		if tt.got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, tt.got, tt.want)
		}
		if frame, ok := strings.CutPrefix(tt.got, "<"); ok {
			m := parse(t, frame)
			if err := m.Check(); err != nil {
				t.Errorf("%s: %s is refused: %v", tt.name, frame, err)
			}
		}
	}
}
