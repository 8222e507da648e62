package transport

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

// net/http and its timers may hold an exchange for half a minute after its end. During that time it must not hold the
// buffers of a network connection.
func TestFinishedExchangeReleasesTheBody(t *testing.T) {
	entered, answer := make(chan struct{}), make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		close(entered)
		<-answer
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{}}`)
	}))
	defer s.Close()
	conn, err := (&HTTP{URL: s.URL, NoListening: true}).Dial(t.Context(), Config{})
	if err != nil {
		t.Fatal(err)
	}
	c := conn.(*httpConn)
	err = c.Send(t.Context(), Message{Kind: KindRequest, ID: 1, Method: "ping", ProtocolVersion: firstModern,
		Data: []byte(`{"jsonrpc":"2.0","id":1,"method":"ping"}`)})
	if err != nil {
		t.Fatal(err)
	}
	<-entered
	c.mu.Lock()
	ex := c.flight.first
	c.mu.Unlock()
	close(answer)
	if _, err := c.Receive(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := c.Close(t.Context()); err != nil { // waits for the exchange
		t.Fatal(err)
	}
	if _, gone := ex.reach.ReadCloser.(closedBody); !gone {
		t.Errorf("want the body released, got %T", ex.reach.ReadCloser)
	}
	if _, err := ex.reach.Read(nil); err != http.ErrBodyReadAfterClose {
		t.Errorf("a later Read: want %v, got %v", http.ErrBodyReadAfterClose, err)
	}
}
