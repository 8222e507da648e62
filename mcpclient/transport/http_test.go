package transport_test

import (
	"net/http"
	"testing"

	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

func TestHTTPAnswersAsJSONAndAsEvents(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch m := readSent(r); m.ID {
		case 1:
			answerJSON(w, 200, result(1))
		case 2:
			answerEvents(w, event(`{"jsonrpc":"2.0","method":"notifications/progress"}`)+event(result(2)))
		}
	})
	conn := dialHTTP(t, &transport.HTTP{URL: url}, transport.Config{})
	send(t, conn, call(1))
	receiveData(t, conn, result(1), 1)
	send(t, conn, call(2))
	receiveData(t, conn, `{"jsonrpc":"2.0","method":"notifications/progress"}`, 2)
	receiveData(t, conn, result(2), 2)
}
