package jsonrpc_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpotel/mcpotel/internal/jsonrpc"
)

func TestFailureReturnsDecodedWireError(t *testing.T) {
	for _, tt := range []struct {
		name, err string
		want      jsonrpc.WireError
		violation string
	}{
		{"all members", `{"code":-32601,"message":"no \u0041","data":{"a":[1]}}`,
			jsonrpc.WireError{Code: -32601, Message: "no A", Data: []byte(`{"a":[1]}`)}, ""},
		{"null data", `{"code":1,"message":"","data":null}`, jsonrpc.WireError{Code: 1}, ""},
		{"unknown members", `{"x":1,"code":1,"message":"m","x":2}`, jsonrpc.WireError{Code: 1, Message: "m"}, ""},
		{"no message", `{"code":1}`, jsonrpc.WireError{Code: 1},
			"message breaks the protocol (invalid_error) at offset 32"},
		{"no code", `{"message":"m"}`, jsonrpc.WireError{Message: "m"},
			"message breaks the protocol (invalid_error) at offset 32"},
		{"fractional code", `{"code":1.5,"message":"m"}`, jsonrpc.WireError{Message: "m"},
			"message breaks the protocol (invalid_error) at offset 40"},
		{"string code", `{"code":"1","message":"m"}`, jsonrpc.WireError{Message: "m"},
			"message breaks the protocol (invalid_error) at offset 40"},
		{"message is no string, code behind", `{"message":{},"code":7}`, jsonrpc.WireError{Code: 7},
			"message breaks the protocol (invalid_error) at offset 43"},
		{"two codes", `{"code":7,"code":8,"message":"m"}`, jsonrpc.WireError{Code: 8, Message: "m"},
			"message breaks the protocol (duplicate_member) at offset 42"},
		{"broken JSON behind the code", `{"code":7,"message":"m",01}`, jsonrpc.WireError{Code: 7, Message: "m"},
			"message is not JSON (invalid_json): invalid character '0' at offset 56"},
		{"broken value", `{"code":7,"message":mm}`, jsonrpc.WireError{Code: 7},
			"message is not JSON (invalid_json): invalid character 'm' at offset 52"},
		{"an extension member behind", `{"code":7,"message":"m"},"x":{}`, jsonrpc.WireError{Code: 7, Message: "m"}, ""},
		{"a result behind", `{"code":7,"message":"m"},"result":{}`, jsonrpc.WireError{Code: 7, Message: "m"},
			"message breaks the protocol (mixed_members) at offset 0"},
	} {
		m := parse(t, `{"jsonrpc":"2.0","id":1,"error":`+tt.err+`}`)
		got, err := m.Failure()
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", tt.name, diff)
		}
		text := ""
		if err != nil {
			text = err.Error()
			if v, ok := errors.AsType[*jsonrpc.Violation](err); !ok || v.ID != jsonrpc.IntID(1) {
				t.Errorf("%s: %#v, want a violation with the id", tt.name, err)
			}
		}
		if text != tt.violation {
			t.Errorf("%s: error %q, want %q", tt.name, text, tt.violation)
		}
	}
}

func TestWireErrorTextHasMessageAndCode(t *testing.T) {
	if got, want := (&jsonrpc.WireError{Code: -32601, Message: "method not found"}).Error(),
		"method not found (-32601)"; got != want {
		t.Errorf("Error() = %q, want %q", got, want)
	}
}
