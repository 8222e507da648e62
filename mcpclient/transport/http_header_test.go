package transport_test

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// headersOf sends messages to a server, and returns the headers that the server received, without the fields that
// net/http adds.
func headersOf(t *testing.T, h *transport.HTTP, messages ...transport.Message) []http.Header {
	t.Helper()
	var got []http.Header
	h.URL = serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		if want := string(messages[len(got)].Data); r.Method != http.MethodPost || r.URL.Path != "/mcp" ||
			string(body) != want {
			t.Errorf("got %s %s with %s, want a POST to /mcp with the message alone, %s", r.Method, r.URL.Path, body, want)
		}
		id := messages[len(got)].ID
		header := r.Header.Clone()
		maps.DeleteFunc(header, func(name string, _ []string) bool {
			return slices.Contains([]string{"Content-Length", "User-Agent", "Accept-Encoding"}, name)
		})
		got = append(got, header)
		w.Header().Set("Mcp-Session-Id", "session-of-"+r.Method)
		answerJSON(w, 200, result(id))
	})
	conn := dialHTTP(t, h, transport.Config{})
	for _, m := range messages {
		send(t, conn, m)
		receiveData(t, conn, result(m.ID), m.ID)
	}
	return got
}

func TestHTTPHeadersOfTheLegacyEra(t *testing.T) {
	traced := call(2)
	traced.Header = map[string]string{"Mcp-Param-Region": "eu"}
	traced.Traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	traced.Tracestate, traced.Baggage = "a=b", "user=7"
	first := initialize(1)
	first.ProtocolVersion = "2025-11-25"
	got := headersOf(t, &transport.HTTP{}, first, traced, modernCall(3))
	both := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}}
	with := func(more http.Header) http.Header {
		h := both.Clone()
		maps.Copy(h, more)
		return h
	}
	want := []http.Header{
		both,
		with(http.Header{
			"Mcp-Protocol-Version": {"2025-11-25"}, "Mcp-Session-Id": {"session-of-POST"},
			"Traceparent": {traced.Traceparent}, "Tracestate": {"a=b"}, "Baggage": {"user=7"},
		}),
		with(http.Header{"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"tools/call"}, "Mcp-Name": {"t"}}),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("headers differ (-want +got):\n%s", diff)
	}
}

func TestHTTPHeadersOfTheModernEra(t *testing.T) {
	m := modernCall(1)
	m.Name = "Straße"
	m.Header = map[string]string{"Mcp-Param-Region": "eu west", "mcp-param-Text": " padded", "Mcp-Param-Bad\r\nX": "1",
		"Authorization": "stolen"}
	plain := modernCall(2)
	plain.Method, plain.Name = "tools/list", ""
	odd := plain // a modern initialize begins no session
	odd.ID, odd.Method = 3, "initialize"
	got := headersOf(t, &transport.HTTP{}, m, plain, odd)
	want := []http.Header{
		{
			"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
			"Mcp-Protocol-Version": {"2026-07-28"},
			"Mcp-Method":           {"tools/call"}, "Mcp-Name": {"=?base64?U3RyYcOfZQ==?="},
			"Mcp-Param-Region": {"eu west"}, "Mcp-Param-Text": {"=?base64?IHBhZGRlZA==?="},
		},
		{
			"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
			"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"tools/list"},
		},
		{
			"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
			"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"initialize"},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("headers differ (-want +got):\n%s", diff)
	}
}

func TestHTTPHeadersContainPropagatorFields(t *testing.T) {
	m := modernCall(1)
	m.Propagated = map[string]string{"b3": "1-2-1", "X-Amzn-Trace-Id": "Root=1", "authorization": "stolen", "host": "x",
		"mcp-method": "x", "accept": "x", "x-user": "x", "bad": "a\nb", "empty": ""}
	got := headersOf(t, &transport.HTTP{Header: http.Header{"X-User": {"own"}}}, m)[0]
	want := http.Header{
		"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
		"Mcp-Protocol-Version": {"2026-07-28"}, "Mcp-Method": {"tools/call"}, "Mcp-Name": got["Mcp-Name"],
		"X-User": {"own"}, "B3": {"1-2-1"}, "X-Amzn-Trace-Id": {"Root=1"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("headers differ (-want +got):\n%s", diff)
	}
}

// A value in a message cannot inject a header field.
func TestHTTPHeadersCannotBeInjected(t *testing.T) {
	evil := "x\r\nX-Evil: 1"
	m := modernCall(1)
	m.Method, m.Name, m.Traceparent, m.Tracestate, m.Baggage = evil, evil, evil, evil, evil
	m.Header = map[string]string{"Mcp-Param-A": evil, "Mcp-Param-" + evil: "1", "X-Evil": "1"}
	legacy := call(2)
	legacy.ProtocolVersion = evil
	for _, h := range headersOf(t, &transport.HTTP{}, m, legacy) {
		if _, ok := h["X-Evil"]; ok {
			t.Errorf("want no injected field, got %v", h)
		}
	}
}

func TestHTTPAddsTheUsersHeader(t *testing.T) {
	h := &transport.HTTP{Header: http.Header{
		"x-api-key": {"k"}, "Cookie": {"a=1",
			"b=2"}, "Content-Type": {"text/plain"}, "mcp-protocol-version": {"1"}, "Host": {"example.com"},
	}}
	var host string
	h.Client = &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
		host = r.Host
		return http.DefaultTransport.RoundTrip(r)
	})}
	got := headersOf(t, h, call(1))[0]
	want := http.Header{
		"X-Api-Key": {"k"}, "Cookie": {"a=1", "b=2"}, "Content-Type": {"application/json"},
		"Accept": {"application/json, text/event-stream"}, "Mcp-Protocol-Version": {"2025-11-25"},
	}
	if diff := cmp.Diff(want, got); diff != "" || host != "example.com" {
		t.Errorf("host %q; headers differ (-want +got):\n%s", host, diff)
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestHTTPDialRefusesInvalidFields(t *testing.T) {
	for _, h := range []*transport.HTTP{
		{},
		{URL: "server"},
		{URL: "ftp://server/"},
		{URL: "http://"},
		{URL: "http:///path"},
		{URL: "http://user:secret%zz@server"},
		{URL: "http://server:secret"},
		{URL: "http://server", Header: http.Header{"X-Key": {"secret\n"}}},
		{URL: "http://server", Header: http.Header{"X Key": {"secret"}}},
		{URL: "http://server", Mode: 9},
	} {
		conn, err := h.Dial(t.Context(), transport.Config{})
		if conn != nil || !transport.Permanent(err) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: want a permanent error without secrets, got %v and connection %v", h.URL, err, conn)
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	reason := errors.New("the reason")
	cancel(reason)
	if conn, err := (&transport.HTTP{URL: "http://server"}).Dial(ctx, transport.Config{}); conn != nil || err != reason {
		t.Errorf("dial with a context that has ended: want its cause, got %v and connection %v", err, conn)
	}
}

func TestHTTPInfoHasAddressAndPort(t *testing.T) {
	for url, want := range map[string]struct {
		name string
		port int
	}{
		"http://server":                       {"server", 80},
		"https://mcp.example.com/mcp?key=1":   {"mcp.example.com", 443},
		"http://user:pw@[::1]:8080/mcp#there": {"::1", 8080},
	} {
		h := &transport.HTTP{URL: url}
		network := transport.Network{Transport: "tcp", Protocol: "http", Address: want.name, Port: want.port}
		if h.Name() != want.name || h.Network() != network {
			t.Errorf("%s: want name %s and %v, got %s and %v", url, want.name, network, h.Name(), h.Network())
		}
	}
	if got := (&transport.HTTP{URL: "\x00"}).Name(); got != "http" {
		t.Errorf("an invalid URL: want a default name, got %q", got)
	}
}

type ctxKey struct{}

// A request of the user's client has the values of the sender's context, for round trippers that trace requests, but
// does not end with that context.
func TestHTTPDoesNotModifyUserClient(t *testing.T) {
	release := make(chan struct{})
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		<-release
		http.SetCookie(w, &http.Cookie{Name: "seen", Value: "1"})
		answerJSON(w, 200, result(readSent(r).ID))
	})
	var values []any
	client := &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
		values = append(values, r.Context().Value(ctxKey{}))
		r = r.Clone(r.Context())
		r.Header.Set("Traceparent", "of the span that wraps it")
		return http.DefaultTransport.RoundTrip(r)
	})}
	conn := dialHTTP(t, &transport.HTTP{URL: url, Client: client}, transport.Config{})
	ctx, cancel := context.WithCancel(context.WithValue(t.Context(), ctxKey{}, "span"))
	if err := conn.Send(ctx, call(1)); err != nil {
		t.Fatal(err)
	}
	cancel()
	close(release)
	receiveData(t, conn, result(1), 1)
	if len(values) != 1 || values[0] != "span" {
		t.Errorf("want the value of the sender's context, got %v", values)
	}
	if client.CheckRedirect != nil {
		t.Error("want the user's client unchanged, but its CheckRedirect was set")
	}
}

func TestHTTPUsersTimeoutEndsTheRequest(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if readSent(r).ID == 1 {
			<-r.Context().Done()
			return
		}
		answerEvents(w, "")
		<-r.Context().Done()
	})
	conn := dialHTTP(t, &transport.HTTP{URL: url, Client: &http.Client{Timeout: 100 * time.Millisecond}},
		transport.Config{})
	for id := range int64(2) {
		send(t, conn, call(id+1))
		if e := receiveError(t, conn, id+1); e.Reason != transport.ReasonLost || !strings.Contains(e.Error(), "Timeout") {
			t.Errorf("want the request lost because of the client's Timeout, got %v", e)
		}
	}
}
