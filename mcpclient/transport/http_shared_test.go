package transport_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// A user's RoundTripper must not change a request, but some do.
func TestRequestsToUserTransportShareNoState(t *testing.T) {
	url1 := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("Mcp-Name"); got != "t" || r.Header.Get("X-Key") != "k" || r.URL.Path != "/mcp" {
			t.Errorf("want an unchanged request, got name %q and header %v", got, r.Header)
		}
		answerJSON(w, http.StatusOK, result(readSent(r).ID))
	})
	h := &transport.HTTP{URL: url1, Header: http.Header{"X-Key": {"k"}}, Client: &http.Client{
		Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
			resp, err := http.DefaultTransport.RoundTrip(r.Clone(r.Context()))
			clear(r.Header)
			*r.URL = url.URL{}
			return resp, err
		}),
	}}
	conn := dialHTTP(t, h, transport.Config{})
	for id := int64(1); id <= 3; id++ {
		send(t, conn, modernCall(id))
		receiveData(t, conn, result(id), id)
	}
}

// Tracing wraps the context of a request, and net/http derives another context from it. Unless the parent is a context
// of the standard library, package context starts a goroutine.
func TestTracingContextsStartNoGoroutine(t *testing.T) {
	target := serve(t, func(w http.ResponseWriter,
		r *http.Request) {
		answerJSON(w, http.StatusOK, result(readSent(r).ID))
	})
	h := &transport.HTTP{URL: target, Client: &http.Client{
		Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
			ctx, cancel := context.WithCancel(context.WithValue(r.Context(), valueKey{}, "span"))
			defer cancel()
			stacks := make([]byte, 1<<20)
			stacks = stacks[:runtime.Stack(stacks, true)]
			if bytes.Contains(stacks, []byte("propagateCancel")) {
				t.Errorf("a goroutine waits for the end of a request:\n%s", stacks)
			}
			return http.DefaultTransport.RoundTrip(r.WithContext(ctx))
		}),
	}}
	conn := dialHTTP(t, h, transport.Config{})
	send(t, conn, modernCall(1))
	receiveData(t, conn, result(1), 1)
}

type valueKey struct{}

// Concurrent calls have their own names, and some have additional fields.
func TestConcurrentRequestsGetTheirOwnHeaders(t *testing.T) {
	const callers, calls = 8, 100
	target := serve(t, func(w http.ResponseWriter, r *http.Request) {
		id := readSent(r).ID
		want := map[string]string{
			"Mcp-Name": fmt.Sprint("tool-",
				id%20), "Mcp-Method": "tools/call", "Mcp-Protocol-Version": "2026-07-28", "X-Key": "k",
			"Accept-Encoding": "gzip", "Accept": "application/json, text/event-stream", "Content-Type": "application/json",
			"Traceparent": traceparentOf(id), "Mcp-Param-Id": paramOf(id),
		}
		for name, value := range want {
			if got := strings.Join(r.Header[name], "|"); got != value {
				t.Errorf("call %d: want %s %q, got %q", id, name, value, got)
			}
		}
		answerJSON(w, http.StatusOK, result(id))
	})
	conn := dialHTTP(t, &transport.HTTP{URL: target, Header: http.Header{"X-Key": {"k"}}}, transport.Config{})
	var all sync.WaitGroup
	for caller := range int64(callers) {
		all.Go(func() {
			for i := range int64(calls) {
				m := modernCall(caller*calls + i + 1)
				m.Name, m.Traceparent = fmt.Sprint("tool-", m.ID%20), traceparentOf(m.ID)
				if param := paramOf(m.ID); param != "" {
					m.Header = map[string]string{"Mcp-Param-Id": param}
				}
				answered := make(chan struct{})
				take := func(transport.Frame) bool { close(answered); return true }
				if err := sendFor(t.Context(), conn, m, take); err != nil {
					t.Errorf("call %d: %v", m.ID, err)
					continue
				}
				<-answered
			}
		})
	}
	all.Wait()
}

func traceparentOf(id int64) string {
	if id%3 > 0 {
		return ""
	}
	return fmt.Sprintf("00-0af7651916cd43dd8448eb211c80319c-%016x-01", id)
}

func paramOf(id int64) string {
	if id%4 > 0 {
		return ""
	}
	return fmt.Sprint(id)
}

// squeeze returns a handler that compresses its body if the client accepts gzip.
func squeeze(contentType string, write func(io.Writer)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", contentType)
		if r.Header.Get("Accept-Encoding") != "gzip" {
			write(w)
			return
		}
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		write(z)
		_ = z.Close()
	}
}

// With the shared client, the transport requests and decompresses gzip. With any other client, net/http does both.
func TestCompressedAnswersAreReadByEveryClient(t *testing.T) {
	text := func(s string) func(io.Writer) { return func(w io.Writer) { _, _ = io.WriteString(w, s) } }
	for name, h := range map[string]struct {
		user   string // user information in the URL
		client *http.Client
		header http.Header
	}{
		"the shared client":                 {},
		"a password in the URL":             {user: "user:secret@"},
		"a user's client":                   {client: &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}},
		"gzip refused by the user's header": {header: http.Header{"Accept-Encoding": {"identity"}}},
	} {
		t.Run(name, func(t *testing.T) {
			dial := func(handler http.HandlerFunc) transport.Conn {
				target := serve(t, handler)
				to := "http://" + h.user + strings.TrimPrefix(target, "http://")
				return dialHTTP(t, &transport.HTTP{URL: to, Client: h.client, Header: h.header}, transport.Config{FrameLimit: 1000})
			}
			conn := dial(squeeze("application/json", text(result(1))))
			send(t, conn, modernCall(1))
			receiveData(t, conn, result(1), 1)

			conn = dial(squeeze("text/event-stream", text(event(`{"jsonrpc":"2.0","method":"x"}`)+event(result(1)))))
			send(t, conn, modernCall(1))
			receiveData(t, conn, `{"jsonrpc":"2.0","method":"x"}`, 1)
			receiveData(t, conn, result(1), 1)

			conn = dial(squeeze("application/json", text(strings.Repeat(" ", 1<<20))))
			send(t, conn, modernCall(1))
			if _, err := conn.Receive(t.Context()); err == nil {
				t.Error("want an error: the frame limit applies to the decompressed answer")
			}
		})
	}
}

func TestAnswerWithInvalidCompressionIsLost(t *testing.T) {
	conn := dialHTTP(t,
		&transport.HTTP{URL: serve(t, answer(200, result(1), "Content-Type", "application/json", "Content-Encoding",
			"gzip"))}, transport.Config{})
	send(t, conn, modernCall(1))
	if e := receiveError(t, conn, 1); e.Reason != transport.ReasonLost {
		t.Errorf("want the request lost, got %v", e)
	}
}
