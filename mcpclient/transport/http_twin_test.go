package transport

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptrace"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

// watched returns an exchange with a usual header, and what net/http tells it.
func watched(t *testing.T) (*exchange, *httptrace.ClientTrace) {
	ex := &exchange{usual: http.Header{"Accept": {"application/json"}, "Mcp-Name": {"t"}}}
	return ex, httptrace.ContextClientTrace(ex.reach.watch(t.Context(), new(atomic.Int32)))
}

func TestAHeaderIsKeptOnlyIfItIsWritten(t *testing.T) {
	for events, kept := range map[string]bool{
		"": false, "conn": false, "conn header": true,
		"conn conn header": false, "conn header conn": false, "conn header conn header": true,
	} {
		ex, trace := watched(t)
		var w worker
		ex.borrow(&w)
		ex.twin()["Traceparent"] = []string{"a"}
		for event := range strings.FieldsSeq(events) {
			if event == "conn" {
				trace.GotConn(httptrace.GotConnInfo{})
			} else {
				trace.WroteHeaders()
			}
		}
		ex.giveBack(&w)
		if got := w.header != nil; got != kept || len(w.header) != 0 {
			t.Errorf("after %q: want it kept and empty: %v, got %v", events, kept, w.header)
		}
	}
}

// The request before may still be read: after a redirect, say.
func TestASecondRequestHasAHeaderOfItsOwn(t *testing.T) {
	for _, w := range []*worker{{}, {header: http.Header{}}} {
		ex, _ := watched(t)
		ex.borrow(w)
		first := ex.twin()
		second := ex.twin()
		second["Traceparent"] = []string{"a"}
		if !maps.EqualFunc(first, ex.usual, func(a, b []string) bool { return a[0] == b[0] }) {
			t.Errorf("want the first as it was, got %v", first)
		}
		if len(ex.usual) != 2 {
			t.Errorf("want the usual header as it was, got %v", ex.usual)
		}
	}
}

func TestAnExchangeThatBorrowsAHeaderInVainGivesItBack(t *testing.T) {
	ex, _ := watched(t)
	header := http.Header{}
	w := &worker{header: header}
	ex.borrow(w)
	if w.header != nil {
		t.Error("want it gone meanwhile")
	}
	if ex.giveBack(w); reflect.ValueOf(w.header).Pointer() != reflect.ValueOf(header).Pointer() {
		t.Error("want the same one back")
	}
}

func TestALargeHeaderIsNotKept(t *testing.T) {
	for fields, kept := range map[int]bool{keptFields: true, keptFields + 1: false} {
		ex, trace := watched(t)
		ex.usual = http.Header{}
		for i := range fields {
			ex.usual[fmt.Sprint("X-", i)] = []string{"a"}
		}
		var w worker
		ex.borrow(&w)
		ex.twin()
		trace.GotConn(httptrace.GotConnInfo{})
		trace.WroteHeaders()
		if ex.giveBack(&w); (w.header != nil) != kept {
			t.Errorf("a header of %d fields: want it kept: %v", fields, kept)
		}
	}
}

// net/http has more of the header than its buffer holds when the answer comes, and is still writing when that is read.
func TestAHeaderIsNotWrittenIfItsAnswerCameFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ex, _ := watched(t)
		here, there := net.Pipe()
		by := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return here, nil }}
		go func() {
			_, _ = bufio.NewReaderSize(there, 16).ReadByte()
			_, _ = io.WriteString(there, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
		}()
		req, err := http.NewRequestWithContext(ex.reach.watch(t.Context(), new(atomic.Int32)), http.MethodPost,
			"http://server.example", strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-Long", strings.Repeat("a", 64<<10))
		resp, err := by.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		if ex.reach.headerWritten() {
			t.Error("want the header not written, as the server has read 16 bytes of it")
		}
		by.CloseIdleConnections()
		_ = there.Close()
	})
}
