package transport_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/mcpotel/mcpotel/internal/client/seam"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// If an answer is one JSON text, or the first message of its stream, the transport offers it to the sender's callback.
// Receive delivers the answer only if the callback refuses it.
func TestFirstAnswerIsOfferedToSendCallback(t *testing.T) {
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
		{"a stream, taken", closing("data: " + answer + "\n\n"), true, true},
		{"a stream, not taken", closing("data: " + answer + "\n\n"), false, true},
		{"a stream that begins with a comment and an id", closing(": hi\n\nid: 1\ndata:\n\ndata: " + answer + "\n\n"), true,
			true},
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
			if test.takes && test.offered { // the next call gets its own answer, not the previous one
				m = modernCall(2)
				send(t, conn, m)
			}
			f, err := conn.Receive(t.Context())
			if err != nil || f.Request != m.ID {
				t.Errorf("received the answer to request %d, %v; want the answer to request %d", f.Request, err, m.ID)
			}
			if len(offers) > 0 {
				t.Error("an answer was offered twice")
			}
		})
	}
}

// If the answer went directly to the callback, it would overtake the progress notification, which goes to Receive.
func TestAnswerDoesNotOvertakeEarlierMessages(t *testing.T) {
	const progress, answer = `{"jsonrpc":"2.0","method":"notifications/progress"}`, `{"jsonrpc":"2.0","id":1,"result":{}}`
	conn := dialHTTP(t, &transport.HTTP{URL: serve(t, closing(event(progress)+event(answer)))}, transport.Config{})
	err := sendFor(t.Context(), conn, modernCall(1), func(f transport.Frame) bool {
		t.Errorf("%s was offered", f.Data)
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	receiveData(t, conn, progress, 1)
	receiveData(t, conn, answer, 1)
}

// sendFor sends a request through [seam.Sender].
func sendFor(ctx context.Context, conn transport.Conn, m transport.Message, answer func(transport.Frame) bool) error {
	return conn.(seam.Sender[transport.Message, transport.Frame]).SendFor(ctx, m, answer)
}
