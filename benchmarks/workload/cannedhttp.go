package workload

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"strconv"
)

// Form is the form of a canned server's HTTP answers.
type Form string

// The forms.
const (
	JSON Form = "json"
	SSE  Form = "sse" // a stream with one event
)

// Handler returns the canned server for HTTP. It has no sessions and refuses GET and DELETE.
func (c Canned) Handler(f Form) http.Handler {
	idle := make(chan *responder, 1024) // a responder is for one goroutine
	idle <- newResponder(c)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
			return
		}
		var k *responder
		select {
		case k = <-idle:
		default:
			k = newResponder(c)
		}
		defer func() { idle <- k }()
		var err error
		if k.request, err = readBody(k.request[:0], r.Body); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		answer := k.answer(k.request)
		switch {
		case answer == nil:
			w.WriteHeader(http.StatusAccepted)
		case f == SSE:
			writeEvent(w, answer)
		default:
			w.Header()["Content-Type"] = jsonType
			w.Header().Set("Content-Length", strconv.Itoa(len(answer)-1))
			_, _ = w.Write(answer[:len(answer)-1])
		}
	})
}

var jsonType, eventType = []string{"application/json"}, []string{"text/event-stream"}

// writeEvent writes an answer, which ends with a newline, as the only event of a stream.
func writeEvent(w http.ResponseWriter, answer []byte) {
	const head, tail = "event: message\ndata: ", "\n"
	w.Header()["Content-Type"] = eventType
	if len(answer) <= 4<<10 {
		_, _ = w.Write(bytes.Join([][]byte{[]byte(head), answer, []byte(tail)}, nil))
		return
	}
	_, _ = io.WriteString(w, head)
	_, _ = w.Write(answer)
	_, _ = io.WriteString(w, tail)
}

// readBody appends a body to b.
func readBody(b []byte, body io.Reader) ([]byte, error) {
	for {
		if len(b) == cap(b) {
			b = append(b, 0)[:len(b)]
		}
		n, err := body.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		if err == io.EOF {
			return b, nil
		} else if err != nil {
			return b, err
		}
	}
}

// Listen serves a handler on a loopback address until stop is called.
func Listen(h http.Handler) (url string, stop func(), err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	url, stop = serve(l, &http.Server{Handler: h})
	return url, stop, nil
}

// serve runs a server until stop is called.
func serve(l net.Listener, srv *http.Server) (url string, stop func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = srv.Serve(l) // until Close
	}()
	return "http://" + l.Addr().String() + "/mcp", func() {
		_ = srv.Close()
		<-done
	}
}
