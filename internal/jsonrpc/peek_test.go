package jsonrpc_test

import (
	"strings"
	"testing"

	"github.com/mcpotel/mcpotel/internal/jsonrpc"
)

func TestTooLargeFindsIDAndMethod(t *testing.T) {
	x := strings.Repeat("x", 5000)
	for _, tt := range []struct {
		name, frame, id, method string
		response                bool
	}{
		{"id first", `{"jsonrpc":"2.0","id":7,"result":{"a":"` + x + `"}}`, "7", "", true},
		{"id last", `{"result":{"a":"` + x + `"},"jsonrpc":"2.0","id":"a"}`, "a", "", true},
		{"error", `{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":"` + x + `"}}`, "7", "", true},
		{"request", `{"jsonrpc":"2.0","id":7,"method":"m","params":{"a":"` + x + `"}}`, "7", "m", false},
		{"request, method last", `{"id":7,"params":{"a":"` + x + `"},"method":"m","jsonrpc":"2.0"}`, "7", "m", false},
		{"notification", `{"jsonrpc":"2.0","method":"m","params":{"a":"` + x + `"}}`, "", "m", false},
		{"id in neither end", `{"a":"` + x + `","id":7,"b":"` + x + `"}`, "", "", false},
		{"not JSON", x, "", "", false},
		{"a number cut in two is no id",
			`{"x":"` + strings.Repeat("x", 1024-len(`{"x":"","id":12`)) + `","id":1234,"result":{"a":"` + x + `"}}`, "", "",
			false},
		{"id inside the result only", `{"result":{"a":"` + x + `","id":8}}`, "", "", true},
	} {
		head, tail := tt.frame[:1024], tt.frame[len(tt.frame)-1024:]
		v := jsonrpc.TooLarge([]byte(head), []byte(tail))
		if v.Reason != jsonrpc.FrameTooLarge || v.ID.String() != tt.id || v.Method != tt.method || v.Response != tt.response {
			t.Errorf("%s: %#v, want id %q, method %q, response %v", tt.name, v, tt.id, tt.method, tt.response)
		}
		v = jsonrpc.TooLarge([]byte(head), nil)
		if wantID := tt.id; v.ID.String() != wantID && !strings.Contains(tt.name, "last") ||
			v.ID.String() != "" && v.ID.String() != wantID {
			t.Errorf("%s, without the tail: id %q, want %q", tt.name, v.ID, wantID)
		}
	}
}

func FuzzTooLarge(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":7,"result":{"a":`), []byte(`"x"}}`))
	f.Add([]byte(`{"result":{`), []byte(`},"jsonrpc":"2.0","id":"a"}`))
	f.Add([]byte(` `), []byte(`   :1}`))
	f.Fuzz(func(t *testing.T, head, tail []byte) {
		front := jsonrpc.TooLarge(head, nil)
		both := jsonrpc.TooLarge(head, tail)
		if !front.ID.IsZero() && both.ID != front.ID {
			t.Errorf("TooLarge(%q, %q): id %v, but the head says %v", head, tail, both.ID, front.ID)
		}
	})
}
