package transport_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/mcpotel/mcpotel/mcpclient/internal/seam"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// An answer that is one JSON text is offered to the one who asked, and only what it does not take goes by way of
// Receive.
func TestAWholeAnswerIsOfferedToItsRequestFirst(t *testing.T) {
	const answer = `{"jsonrpc":"2.0","id":1,"result":{}}`
	for _, test := range []struct {
		name    string
		handle  http.HandlerFunc
		takes   bool
		offered bool
	}{
		{"JSON, taken", func(w http.ResponseWriter, _ *http.Request) { answerJSON(w, http.StatusOK, answer) }, true, true},
		{"JSON, not taken", func(w http.ResponseWriter, _ *http.Request) { answerJSON(w, http.StatusOK, answer) }, false,
			true},
		{"a stream", func(w http.ResponseWriter, _ *http.Request) { answerEvents(w, "data: "+answer+"\n\n") }, true, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			conn := dialHTTP(t, &transport.HTTP{URL: serve(t, test.handle)}, transport.Config{})
			offers := make(chan transport.Frame, 1)
			m := modernCall(1)
			take := func(f transport.Frame) bool {
				offers <- f
				return test.takes
			}
			if err := sendFor(t.Context(), conn, m, take); err != nil {
				t.Fatal(err)
			}
			if test.offered {
				if f := <-offers; string(f.Data) != answer || f.Request != 1 {
					t.Errorf("offered %s of request %d, want %s of request 1", f.Data, f.Request, answer)
				}
			}
			if test.takes && test.offered { // the next one shows that nothing was left
				m = modernCall(2)
				send(t, conn, m)
			}
			f, err := conn.Receive(t.Context())
			if err != nil || f.Request != m.ID {
				t.Errorf("received the answer to request %d, %v; want that to request %d", f.Request, err, m.ID)
			}
			if len(offers) > 0 {
				t.Error("an answer was offered that came in a stream, or twice")
			}
		})
	}
}

// sendFor sends a request by the connection's seam.
func sendFor(ctx context.Context, conn transport.Conn, m transport.Message, answer func(transport.Frame) bool) error {
	return conn.(seam.Sender[transport.Message, transport.Frame]).SendFor(ctx, m, answer)
}
