package transport_test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"

	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// ownFields lists the header fields that differ between messages.
var ownFields = []string{"Traceparent", "Tracestate", "Baggage", "B3", "Mcp-Param-Even", "Mcp-Param-Third"}

// tracedCall returns a call whose header fields depend on its id, and the expected fields.
func tracedCall(id int64) (transport.Message, map[string]string) {
	m, n := modernCall(id), fmt.Sprint(id)
	want := map[string]string{}
	m.Header = map[string]string{}
	if id%7 != 0 {
		m.Traceparent = fmt.Sprintf("00-%032x-%016x-01", id, id)
		want["Traceparent"] = m.Traceparent
	}
	if id%2 == 0 {
		m.Baggage, m.Header["Mcp-Param-Even"] = "user="+n, n
		want["Baggage"], want["Mcp-Param-Even"] = m.Baggage, n
	}
	if id%3 == 0 {
		m.Propagated, m.Header["Mcp-Param-Third"] = map[string]string{"b3": n}, n
		want["B3"], want["Mcp-Param-Third"] = n, n
	}
	if id%5 == 0 {
		m.Tracestate = "a=" + n
		want["Tracestate"] = m.Tracestate
	}
	return m, want
}

// Some calls have fewer fields than the previous call. A header that was reused without care would still have the old
// fields.
func TestEachHTTPRequestHasTraceHeadersOfItsMessage(t *testing.T) {
	const callers, calls = 8, 50
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		id := readSent(r).ID
		_, want := tracedCall(id)
		for _, name := range ownFields {
			if got := r.Header.Get(name); got != want[name] {
				t.Errorf("request %d: %s: got %q, want %q", id, name, got, want[name])
			}
		}
		answerJSON(w, 200, result(id))
	})
	conn := dialHTTP(t, &transport.HTTP{URL: url}, transport.Config{})
	var wg sync.WaitGroup
	for c := range int64(callers) {
		wg.Go(func() {
			answered := make(chan []byte, 1)
			for i := range int64(calls) {
				id := 1 + c*calls + i
				m, _ := tracedCall(id)
				err := sendFor(t.Context(), conn, m, func(f transport.Frame) bool { answered <- f.Data; return true })
				if err == nil {
					err = checkAnswer(<-answered, id)
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}
