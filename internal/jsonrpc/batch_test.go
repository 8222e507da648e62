package jsonrpc_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpotel/mcpotel/internal/jsonrpc"
)

func TestBatchYieldsItsElements(t *testing.T) {
	frame := []byte(` [ {"jsonrpc":"2.0","id":1,"method":"a"} , 1,{"x":[{}]}] `)
	elements, err := jsonrpc.Batch(frame)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for e := range elements {
		got = append(got, string(e))
		if cap(e) != len(e) {
			t.Errorf("%s: capacity is not cut", e)
		}
	}
	if diff := cmp.Diff([]string{`{"jsonrpc":"2.0","id":1,"method":"a"}`, `1`, `{"x":[{}]}`}, got); diff != "" {
		t.Errorf("elements (-want +got)\n%s", diff)
	}
	for range elements {
		break // the caller may stop early
	}
	if n := len(slices.Collect(elements)); n != 3 {
		t.Errorf("second iteration: %d elements, want 3 again", n)
	}
}

func TestBatchYieldsNothingOfABrokenArray(t *testing.T) {
	for _, tt := range []struct{ frame, want string }{
		{`[]`, "invalid_envelope"}, {`{}`, "invalid_envelope"}, {`[{}`, "invalid_json"}, {`[{},]`, "invalid_json"},
		{`[{}]x`, "invalid_json"}, {``, "invalid_json"},
	} {
		_, err := jsonrpc.Batch([]byte(tt.frame))
		if v, ok := errors.AsType[*jsonrpc.Violation](err); !ok || v.Reason.String() != tt.want {
			t.Errorf("Batch(%s): %v, want %s", tt.frame, err, tt.want)
		}
	}
}
