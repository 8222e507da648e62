package mcpserver_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/internal/sse"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver"
	"github.com/mcpotel/mcpotel/mcpserver/store"
)

const stepsParams = `"name":"steps","arguments":{"values":[1,2,2,5]}`

// legacySteps returns a call of a tool that reports progress.
func legacySteps(id int) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"_meta":{"progressToken":"p"},%s}}`, id,
		stepsParams)
}

func TestProgressMakesTheResponseAStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := serveWeb(t, newWebServer(t, mcpserver.Options{}), nil)
		modern := w.stream("POST", asked(1, "tools/call", bothMetas+`,"progressToken":"p"`, stepsParams),
			modernHeaders("tools/call", "steps")...)
		if got := modern.resp.Header; got.Get("X-Accel-Buffering") != "no" ||
			!strings.Contains(got.Get("Cache-Control"), "no-cache") {
			t.Errorf("the stream's headers are %v, want them to forbid buffering and caching", got)
		}
		session := w.open("2025-06-18")
		legacy := w.stream("POST", legacySteps(1), "Mcp-Session-Id", session)
		for name, s := range map[string]*events{"modern": modern, "legacy": legacy} {
			for range 3 {
				if m := s.message(); m.Method != mcp.NotificationProgress {
					t.Errorf("%s: got %+v, want progress", name, m)
				}
			}
			if m := s.message(); m.ID != 1.0 || m.Result == nil {
				t.Errorf("%s: got %+v, want the answer", name, m)
			}
			s.over()
		}
	})
}

func TestClientWithoutStreamGetsJSONAndNoProgress(t *testing.T) {
	w := serveWeb(t, newWebServer(t, mcpserver.Options{}), nil)
	p := w.post(asked(1, "tools/call", bothMetas+`,"progressToken":"p"`, stepsParams),
		append(modernHeaders("tools/call", "steps"), "Accept", "application/json")...)
	if p.header.Get("Content-Type") != "application/json" || decoded(t, p.body).Result == nil {
		t.Errorf("modern: got %v: %s, want JSON", p.header, p.body)
	}
	session := w.open("2025-11-25")
	p = w.post(legacySteps(1), "Mcp-Session-Id", session, "Accept", "application/json")
	if p.header.Get("Content-Type") != "application/json" || decoded(t, p.body).Result == nil {
		t.Errorf("legacy: got %v: %s, want JSON", p.header, p.body)
	}
	p = w.post(callOf(2, "pause", "{}"), "Mcp-Session-Id", session, "Accept", "application/json")
	if !strings.Contains(p.body, mcpserver.ErrNotResumable.Error()) {
		t.Errorf("closing a missing stream got %s, want an error for the handler", p.body)
	}
}

func TestClientThatAcceptsOnlyStreamsGetsStream(t *testing.T) {
	w := serveWeb(t, newWebServer(t, mcpserver.Options{}), nil)
	body, headers := askedCall(1, "greet", `{"name":"x"}`)
	modern := w.stream("POST", body, append(headers, "Accept", "text/event-stream")...)
	session := w.open("2025-03-26")
	legacy := w.stream("POST", callOf(1, "greet", `{"name":"x"}`), "Mcp-Session-Id", session, "Accept",
		"text/event-stream")
	for _, s := range []*events{modern, legacy} {
		if m := s.message(); m.ID != 1.0 || m.Result == nil {
			t.Errorf("got %+v, want the answer", m)
		}
		s.over()
	}
	if p := w.post(asked(1, "nothing", bothMetas, ""),
		append(modernHeaders("nothing", ""), "Accept", "text/event-stream")...); p.status != 404 {
		t.Errorf("a refusal got %d, want its status", p.status)
	}
}

func TestEmptyFirstEventIsSentOnlyIfRevisionHasIt(t *testing.T) {
	for version, want := range map[string]bool{"2025-11-25": true, "2025-06-18": false, "2025-03-26": false} {
		t.Run(version, func(t *testing.T) {
			w := serveWeb(t, newWebServer(t, mcpserver.Options{}), &mcpserver.HTTPOptions{Retry: 2 * time.Second})
			s := w.stream("POST", legacySteps(1), "Mcp-Session-Id", w.open(version))
			first := s.next()
			if primes := first.HasID && first.HasData && len(first.Data) == 0 && first.Retry == 2*time.Second; primes != want {
				t.Errorf("the first event is %+v, want it empty: %v", first, want)
			}
			ids := map[string]bool{first.ID: true}
			for e := first; !strings.Contains(string(e.Data), `"id":1`); ids[e.ID] = true {
				e = s.next()
				if !e.HasID || ids[e.ID] {
					t.Errorf("event %s has id %q, want one of its own", e.Data, e.ID)
				}
			}
			s.over()
		})
	}
	w := serveWeb(t, newWebServer(t, mcpserver.Options{}), &mcpserver.HTTPOptions{NotResumable: true})
	s := w.stream("POST", legacySteps(1), "Mcp-Session-Id", w.open("2025-11-25"))
	if e := s.next(); e.HasID || len(e.Data) == 0 {
		t.Errorf("without a store, the first event is %+v, want a message without id", e)
	}
}

// gated returns a server with a tool that reports progress, waits for the gate, reports again and answers. If the
// context ends while the tool waits, cause receives the cause of the context.
func gated(t *testing.T, o mcpserver.Options) (s *mcpserver.Server, gate chan struct{}, cause chan error) {
	gate, cause = make(chan struct{}), make(chan error, 1)
	s = withTool(t, o, "gated", func(ctx context.Context, r *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
		_ = r.Progress(ctx, 1, 0, "")
		select {
		case <-gate:
		case <-ctx.Done():
			cause <- context.Cause(ctx)
			return nil, ctx.Err()
		}
		_ = r.Progress(ctx, 2, 0, "")
		return nil, nil
	})
	return s, gate, cause
}

const gatedCall = `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"_meta":{"progressToken":1},` +
	`"name":"gated","arguments":{}}}`

func TestDisconnectCancelsModernRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, _, cause := gated(t, mcpserver.Options{})
		w := serveWeb(t, server, nil)
		s := w.stream("POST", asked(1, "tools/call", bothMetas+`,"progressToken":1`, `"name":"gated"`),
			modernHeaders("tools/call", "gated")...)
		s.next()
		s.leave()
		synctest.Wait()
		if len(cause) != 1 {
			t.Error("the handler's context goes on, want its end")
		}
		w.end()
	})
}

func TestNotificationCancelsLegacyRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, _, cause := gated(t, mcpserver.Options{})
		w := serveWeb(t, server, nil)
		session := w.open("2025-11-25")
		s := w.stream("POST", gatedCall, "Mcp-Session-Id", session)
		s.next()
		s.next()
		if p := w.post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5,"reason":"bored"}}`,
			"Mcp-Session-Id", session); p.status != 202 {
			t.Errorf("the notification got %d, want 202", p.status)
		}
		synctest.Wait()
		if len(cause) != 1 {
			t.Fatal("the handler's context goes on, want its end")
		}
		if err := <-cause; err.Error() != "cancelled by the client: bored" {
			t.Errorf("the cause is %v, want the client's reason", err)
		}
		s.over()
		w.end()
	})
}

func TestABatchIsAnsweredInOneArray(t *testing.T) {
	w := serveWeb(t, newWebServer(t, mcpserver.Options{}), nil)
	session := w.open("2025-03-26")
	p := w.post(`[`+callOf(1, "greet", `{"name":"x"}`)+`,`+initialized+`,`+pingRequest+`]`, "Mcp-Session-Id", session)
	if p.status != 200 || !strings.HasPrefix(p.body, "[") || strings.Count(p.body, `"result"`) != 2 {
		t.Errorf("got %d with %s, want two answers in one array", p.status, p.body)
	}
	if p := w.post(`[`+initialized+`,`+initialized+`]`, "Mcp-Session-Id", session); p.status != 202 || p.body != "" {
		t.Errorf("notifications got %d with %q, want 202 and nothing", p.status, p.body)
	}
	if p := w.post(`[]`, "Mcp-Session-Id", session); p.status != 400 {
		t.Errorf("an empty batch got %d with %s, want 400", p.status, p.body)
	}
	s := w.stream("POST", `[`+legacySteps(1)+`,`+pingRequest+`]`, "Mcp-Session-Id", session)
	for range 3 {
		if m := s.message(); m.Method != mcp.NotificationProgress {
			t.Errorf("got %+v, want progress", m)
		}
	}
	if data := string(s.next().Data); !strings.HasPrefix(data, "[") || strings.Count(data, `"result"`) != 2 {
		t.Errorf("got %s, want two answers in one array", data)
	}
	s.over()
}

func TestQuietStreamsAreKeptAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, gate, _ := gated(t, mcpserver.Options{})
		w := serveWeb(t, server, &mcpserver.HTTPOptions{KeepAlive: 10 * time.Second})
		s := w.stream("POST", asked(1, "tools/call", bothMetas+`,"progressToken":1`, `"name":"gated"`),
			modernHeaders("tools/call", "gated")...)
		s.next()
		go func() {
			time.Sleep(time.Minute - time.Second)
			close(gate)
		}()
		raw := make([]byte, 1<<10)
		var text strings.Builder
		for n, err := s.resp.Body.Read(raw); err == nil; n, err = s.resp.Body.Read(raw) {
			text.Write(raw[:n])
		}
		if n := strings.Count(text.String(), "\n:") + strings.Count(text.String()[:1], ":"); n != 5 {
			t.Errorf("%d comments in a minute, want one every 10 seconds: %q", n, text.String())
		}
		w.end()
	})
}

func TestStreamOfBlockedClientIsAbandoned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reported := make(chan error, 1)
		server := withTool(t, mcpserver.Options{}, "flood",
			func(ctx context.Context, r *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
				for n := 1.0; ; n++ {
					if err := r.Progress(ctx, n, 0, strings.Repeat("x", 10_000)); err != nil {
						reported <- err
						return nil, err
					}
				}
			})
		w := serveWeb(t, server, &mcpserver.HTTPOptions{Timeouts: mcpserver.HTTPTimeouts{Write: 5 * time.Second}})
		start := time.Now()
		s := w.stream("POST", asked(1, "tools/call", bothMetas+`,"progressToken":1`, `"name":"flood"`),
			modernHeaders("tools/call", "flood")...)
		if err := <-reported; err == nil || time.Since(start) != 5*time.Second {
			t.Errorf("the handler got %v after %v, want an error after 5s", err, time.Since(start))
		}
		s.leave()
		w.end()
	})
}

func TestStreamEventsAreUnnamedSingleLines(t *testing.T) {
	w := serveWeb(t, newWebServer(t, mcpserver.Options{}), nil)
	s := w.stream("POST", legacySteps(1), "Mcp-Session-Id", w.open("2025-06-18"))
	var all []sse.Event
	for e, err := s.reader.Next(); err == nil; e, err = s.reader.Next() {
		all = append(all, e)
	}
	for _, e := range all {
		if e.Name != "" || strings.Contains(string(e.Data), "\n") {
			t.Errorf("event %+v, want an unnamed one with one line", e)
		}
	}
	if len(all) != 4 {
		t.Errorf("%d events, want 4", len(all))
	}
}

func TestIdleStreamIsNotClosed(t *testing.T) {
	h2c := new(http.Protocols)
	h2c.SetUnencryptedHTTP2(true)
	for name, protocols := range map[string]*http.Protocols{"HTTP/1.1": nil, "h2c": h2c} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := newServer(t, mcpserver.Options{})
				h := server.HTTPHandler(&mcpserver.HTTPOptions{KeepAlive: -1,
					Timeouts: mcpserver.HTTPTimeouts{Write: time.Second, Body: time.Second}})
				w := serveProtocols(t, h, h, protocols)
				s := w.stream("POST", listenFor(1, toolsFilter), modernHeaders("subscriptions/listen", "")...)
				s.next()
				time.Sleep(time.Minute)
				server.RemoveTools("echo")
				if m := s.message(); m.Method != mcp.NotificationToolListChanged {
					t.Errorf("got %+v, want the change", m)
				}
				s.leave()
				w.end()
			})
		})
	}
}

func TestMissingBodyTimesOut(t *testing.T) {
	for kind, want := range map[string]int{"application/json": http.StatusRequestTimeout,
		"text/plain": http.StatusUnsupportedMediaType} {
		t.Run(kind, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := serveWeb(t, newServer(t, mcpserver.Options{}),
					&mcpserver.HTTPOptions{Timeouts: mcpserver.HTTPTimeouts{Body: 5 * time.Second}})
				body, pending := io.Pipe()
				r := request(t, t.Context(), "POST", "", "Content-Type", kind)
				r.Body, r.ContentLength = body, 100
				start := time.Now()
				resp, err := w.client.Do(r)
				if err != nil {
					t.Fatal(err)
				}
				if took := time.Since(start); resp.StatusCode != want || took != 5*time.Second {
					t.Errorf("got %d after %v, want %d after 5s", resp.StatusCode, took, want)
				}
				pending.Close()
				resp.Body.Close()
				w.end()
			})
		})
	}
}

func TestABodyWithoutALengthIsReadUpToTheLimit(t *testing.T) {
	w := serveWeb(t, newServer(t, mcpserver.Options{Limits: mcpserver.Limits{Frame: 200_000}}), nil)
	session := w.open("2025-11-25")
	for size, want := range map[int]int{199_000: 200, 200_100: 413} {
		call := callOf(1, "greet", `{"name":"`+strings.Repeat("x", size)+`"}`)
		r := request(t, t.Context(), "POST", "", "Mcp-Session-Id", session)
		r.Body, r.ContentLength = io.NopCloser(strings.NewReader(call)), -1
		resp, err := w.client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if resp.StatusCode != want {
			t.Errorf("%d bytes got %d, want %d", len(call), resp.StatusCode, want)
		}
		resp.Body.Close()
	}
}

func TestModernDisconnectBeforeFirstEventCancels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cause := make(chan error, 1)
		server := withTool(t, mcpserver.Options{}, "wait",
			func(ctx context.Context, _ *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
				<-ctx.Done()
				cause <- context.Cause(ctx)
				return nil, ctx.Err()
			})
		w := serveWeb(t, server, nil)
		ctx, leave := context.WithCancel(t.Context())
		body, headers := askedCall(1, "wait", "{}")
		go w.client.Do(request(t, ctx, "POST", body, headers...))
		synctest.Wait()
		leave()
		synctest.Wait()
		if len(cause) != 1 {
			t.Error("the handler's context goes on, want its end")
		}
		w.end()
	})
}

// forgetful is a store that fails in each operation.
type forgetful struct{ append, behind error }

func (s forgetful) Append(context.Context, string, store.Event) error { return s.append }

func (s forgetful) Behind(context.Context, string, store.EventID) iter.Seq2[store.Event, error] {
	return func(yield func(store.Event, error) bool) { yield(store.Event{}, s.behind) }
}

func (s forgetful) Forget(string) {}

func TestFailedEventStoreOnlyPreventsResumption(t *testing.T) {
	w := serveWeb(t, newWebServer(t, mcpserver.Options{}),
		&mcpserver.HTTPOptions{Events: forgetful{errors.New("full"), errors.New("broken")}})
	session := w.open("2025-06-18")
	s := w.stream("POST", legacySteps(1), "Mcp-Session-Id", session)
	first := s.next()
	for range 2 {
		s.next()
	}
	if m := s.message(); m.ID != 1.0 {
		t.Errorf("got %+v, want the answer", m)
	}
	s.over()
	if p := w.do("GET", "", "Mcp-Session-Id", session, "Last-Event-ID", first.ID); p.status != 400 {
		t.Errorf("the return got %d with %s, want 400", p.status, p.body)
	}
}

func TestCloseStreamWorksRepeatedlyAndInBatch(t *testing.T) {
	for _, version := range []string{"2025-03-26", "2025-11-25"} {
		t.Run(version, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				results := make(chan error, 4)
				server := withTool(t, mcpserver.Options{}, "pause",
					func(ctx context.Context, r *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
						_ = r.Progress(ctx, 1, 0, "")
						results <- r.CloseStream(ctx, 0)
						results <- r.CloseStream(ctx, 0)
						go func() {
							time.Sleep(time.Minute)
							results <- r.CloseStream(ctx, 0)
						}()
						time.Sleep(time.Second)
						return nil, nil
					})
				w := serveWeb(t, server, &mcpserver.HTTPOptions{Retry: 3 * time.Second})
				session := w.open(version)
				call := `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"_meta":{"progressToken":1},"name":"pause"}}`
				if version == "2025-03-26" {
					call = "[" + call + "]"
				}
				s := w.stream("POST", call, "Mcp-Session-Id", session)
				if version == "2025-11-25" {
					s.next()
				}
				last := s.next()
				if e := s.next(); e.Retry != 3*time.Second {
					t.Errorf("got %+v, want when to come back", e)
				}
				s.over()
				time.Sleep(time.Minute)
				s = w.resumed(session, last.ID)
				if e := s.next(); !strings.Contains(string(e.Data), `"id":5`) {
					t.Errorf("got %s, want the answer", e.Data)
				}
				s.over()
				for i, want := range []error{nil, nil, mcpserver.ErrAnswered} {
					if err := <-results; !errors.Is(err, want) {
						t.Errorf("CloseStream number %d returned %v, want %v", i+1, err, want)
					}
				}
				w.end()
			})
		})
	}
}

// The streams of a session are independent: each has its own messages and event ids, and a resumed stream repeats only
// its own messages. (specification 2025-11-25, basic/transports, "Listening for Messages from the Server",
// "Resumability and Redelivery")
func TestStreamsOfOneSessionAreIndependent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, gate, _ := gated(t, mcpserver.Options{})
		w := serveWeb(t, server, nil)
		session := w.open("2025-11-25")
		five := w.stream("POST", gatedCall, "Mcp-Session-Id", session)
		six := w.stream("POST", strings.Replace(gatedCall, `"id":5`, `"id":6`, 1), "Mcp-Session-Id", session)
		general := w.stream("GET", "", "Mcp-Session-Id", session)
		server.RemoveTools("gated")
		changes := []sse.Event{general.next()}
		close(gate)
		synctest.Wait()
		if err := server.AddTool(&mcp.Tool{Name: "another"}, echo); err != nil {
			t.Fatal(err)
		}
		changes = append(changes, general.next())
		general.leave()

		ids := map[string]bool{}
		began := map[string]string{} // first event id of each stream
		check := func(what string, events []sse.Event, want ...string) {
			t.Helper()
			var got []string
			for _, e := range events {
				if ids[e.ID] {
					t.Errorf("%s: the id %s is used twice", what, e.ID)
				}
				ids[e.ID] = true
				if _, ok := began[what]; !ok {
					began[what] = e.ID
				}
				got = append(got, says(t, e))
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: got %q, want %q", what, got, want)
			}
		}
		const progress, change = mcp.NotificationProgress, mcp.NotificationToolListChanged
		check("call 5", five.rest(), "", progress, progress, "answer 5")
		check("call 6", six.rest(), "", progress, progress, "answer 6")
		check("general", changes, change, change)
		clear(ids)
		check("call 5", w.resumed(session, began["call 5"]).rest(), progress, progress, "answer 5")
		check("call 6", w.resumed(session, began["call 6"]).rest(), progress, progress, "answer 6")
		again := w.resumed(session, began["general"])
		missed := []sse.Event{again.next()}
		w.do("DELETE", "", "Mcp-Session-Id", session)
		check("general", append(missed, again.rest()...), change)
		w.end()
	})
}

// says returns a short description of an event.
func says(t *testing.T, e sse.Event) string {
	t.Helper()
	if len(e.Data) == 0 {
		return ""
	}
	m := decoded(t, string(e.Data))
	if m.Method == "" {
		return fmt.Sprint("answer ", m.ID)
	}
	return m.Method
}

// rest returns the events up to the end of the stream.
func (e *events) rest() []sse.Event {
	var all []sse.Event
	for {
		event, err := e.read()
		if err != nil {
			return all
		}
		all = append(all, event)
	}
}
