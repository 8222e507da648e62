package shop

import (
	"net/http/httptest"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
)

// TestEveryLibraryKeepsTheContract sends the load of the benchmark for a moment. The load checks the answers.
func TestEveryLibraryKeepsTheContract(t *testing.T) {
	service := httptest.NewServer(Service())
	defer service.Close()
	redis := "redis://" + miniredis.RunT(t).Addr()
	if err := Fill(t.Context(), redis); err != nil {
		t.Fatal(err)
	}
	for _, library := range Libraries {
		t.Run(library, func(t *testing.T) {
			s, err := Open(library, service.URL, redis)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			handler, err := Server(library, s)
			if err != nil {
				t.Fatal(err)
			}
			server := httptest.NewServer(handler)
			defer server.Close()
			r, err := Load(t.Context(), server.URL+"/mcp", 2, 0, 500*time.Millisecond)
			if err != nil || r.Requests == 0 || r.Sent < r.Requests {
				t.Errorf("got %+v, %v", r, err)
			}
		})
	}
}

func TestUnknownLibraryIsAnError(t *testing.T) {
	if _, err := Server("other", nil); err == nil {
		t.Error("want an error")
	}
}

func TestWrongResultIsAnError(t *testing.T) {
	right := `{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"{\"user_id\":\"u\",\"cart\":` +
		`{\"items\":[{\"product_id\":1,\"qty\":1}]},\"recent_history\":[{},{},{},{},{}]}"}]}}`
	cart := tasksOf("u")[1]
	for response, ok := range map[string]bool{
		right: true, "event: message\ndata: " + right + "\n\n": true,
		`{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"no"}}`:             false,
		`{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"{}"}]}}`: false,
		"<html>": false,
	} {
		if err := cart.check([]byte(response)); (err == nil) != ok {
			t.Errorf("%s: got %v, want that it is right: %t", response, err, ok)
		}
	}
}
