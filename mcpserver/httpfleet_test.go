package mcpserver_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/codes"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	"github.com/mcpotel/mcpotel/mcpserver"
	"github.com/mcpotel/mcpotel/mcpserver/store"
)

func TestSessionWorksInAllProcesses(t *testing.T) {
	for _, version := range []string{"2025-03-26", "2025-06-18", "2025-11-25"} {
		isolated(t, mcpserver.HTTPOptions{}, func(t *testing.T, a, b process) {
			session := a.open(version)
			for range 2 {
				for _, p := range []process{b, a} {
					got := p.post(callOf(1, "example", "{}"), "Mcp-Session-Id", session)
					if got.status != http.StatusOK {
						t.Fatalf("%s: a call got %d with %s", version, got.status, got.body)
					}
				}
			}
			who := `{"jsonrpc":"2.0","id":1,"method":"example.com/who"}`
			if one, other := a.post(who, "Mcp-Session-Id", session), b.post(who, "Mcp-Session-Id",
				session); one.body != other.body || one.status != 200 {
				t.Errorf("%s: want both to know the same of the client, got %s and %s", version, one.body, other.body)
			}
			if p := b.post(pingRequest, "Mcp-Session-Id", "nobody"); p.status != http.StatusNotFound {
				t.Errorf("an unknown session got %d, want 404", p.status)
			}
		})
	}
}

func TestStoredSessionBelongsToItsPrincipal(t *testing.T) {
	principal := func(r *http.Request) string { return r.Header.Get("Authorization") }
	isolated(t, mcpserver.HTTPOptions{Principal: principal}, func(t *testing.T, a, b process) {
		id := a.post(initialize, "Authorization", "alice").header.Get("Mcp-Session-Id")
		for _, p := range []process{b, a, b} {
			for name, want := range map[string]int{"alice": 200, "bob": 404, "": 404} {
				if got := p.post(pingRequest, "Mcp-Session-Id", id, "Authorization", name); got.status != want {
					t.Errorf("%q got %d, want %d", name, got.status, want)
				}
			}
		}
		if got := b.do("DELETE", "", "Mcp-Session-Id", id, "Authorization", "bob"); got.status != 404 {
			t.Errorf("DELETE of another got %d, want 404", got.status)
		}
	})
}

func TestASessionEndsInAllProcesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, _, cause := gated(t, mcpserver.Options{})
		other, _, _ := gated(t, mcpserver.Options{})
		all := processes(t, mcpserver.HTTPOptions{}, one, other)
		a, b := all[0], all[1]
		session := a.open("2025-11-25")
		general := a.stream("GET", "", "Mcp-Session-Id", session)
		s := a.stream("POST", gatedCall, "Mcp-Session-Id", session)
		s.next()
		s.next()
		if p := b.do("DELETE", "", "Mcp-Session-Id", session); p.status != http.StatusNoContent {
			t.Errorf("DELETE got %d, want 204", p.status)
		}
		if err := <-cause; err == nil {
			t.Error("the handler's context goes on, want its end")
		}
		general.over()
		s.next()
		s.over()
		for _, p := range all {
			if got := p.post(pingRequest, "Mcp-Session-Id", session); got.status != http.StatusNotFound {
				t.Errorf("afterwards a request got %d, want 404", got.status)
			}
		}
		a.end()
		b.end()
	})
}

func TestChangesInOneProcessReachTheStreamInAnother(t *testing.T) {
	for _, notResumable := range []bool{false, true} {
		t.Run(fmt.Sprint("not resumable: ", notResumable), func(t *testing.T) {
			isolated(t, mcpserver.HTTPOptions{NotResumable: notResumable}, func(t *testing.T, a, b process) {
				session := a.post(initialize).header.Get("Mcp-Session-Id")
				if p := b.post(initialized, "Mcp-Session-Id", session); p.status != http.StatusAccepted {
					t.Fatalf("notifications/initialized got %d", p.status)
				}
				b.change() // the client does not listen yet
				time.Sleep(time.Second)
				s := a.stream("GET", "", "Mcp-Session-Id", session)
				for _, p := range []process{a, b, a, b} {
					if m := s.message(); m.Method != mcp.NotificationToolListChanged {
						t.Errorf("got %+v, want the change", m)
					}
					time.Sleep(time.Second)
					p.change()
				}
				s.message()
				s.leave()
				synctest.Wait()
			})
		})
	}
}

func TestStreamHasOneReaderAcrossProcesses(t *testing.T) {
	for _, notResumable := range []bool{false, true} {
		t.Run(fmt.Sprint("not resumable: ", notResumable), func(t *testing.T) {
			isolated(t, mcpserver.HTTPOptions{NotResumable: notResumable}, func(t *testing.T, a, b process) {
				session := a.open("2025-11-25")
				first := a.stream("GET", "", "Mcp-Session-Id", session)
				synctest.Wait()
				second := b.stream("GET", "", "Mcp-Session-Id", session)
				first.over()
				a.change()
				if m := second.message(); m.Method != mcp.NotificationToolListChanged {
					t.Errorf("got %+v, want the change", m)
				}
				third := a.stream("GET", "", "Mcp-Session-Id", session)
				for _, err := second.reader.Next(); err == nil; { // the second stream may have read messages for the third
					_, err = second.reader.Next()
				}
				b.change()
				if m := third.message(); m.Method != mcp.NotificationToolListChanged {
					t.Errorf("got %+v, want the change", m)
				}
				third.leave()
				synctest.Wait()
			})
		})
	}
}

func TestGETStreamResumesInAnotherProcess(t *testing.T) {
	isolated(t, mcpserver.HTTPOptions{}, func(t *testing.T, a, b process) {
		session := a.open("2025-11-25")
		s := a.stream("GET", "", "Mcp-Session-Id", session)
		var ids []string
		for range 2 {
			time.Sleep(time.Second)
			a.change()
			ids = append(ids, s.next().ID)
		}
		s.leave()
		synctest.Wait()
		s = b.resumed(session, ids[0])
		if e := s.next(); e.ID != ids[1] || !strings.Contains(string(e.Data), mcp.NotificationToolListChanged) {
			t.Errorf("got %s as %s, want what came behind the event", e.Data, e.ID)
		}
		b.change()
		if m := s.message(); m.Method != mcp.NotificationToolListChanged {
			t.Errorf("got %+v, want what comes now", m)
		}
		s.leave()
		synctest.Wait()
	})
}

func TestModernSubscriptionGetsChangesOfAllProcesses(t *testing.T) {
	isolated(t, mcpserver.HTTPOptions{}, func(t *testing.T, a, b process) {
		s := a.stream("POST", listenFor(1, toolsFilter), modernHeaders("subscriptions/listen", "")...)
		s.next()
		for _, p := range []process{b, a} {
			p.change()
			if m := s.message(); m.Method != mcp.NotificationToolListChanged {
				t.Errorf("got %+v, want the change", m)
			}
		}
		s.leave()
		synctest.Wait()
	})
}

func TestLaterProcessSendsEarlierChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sessions := store.NewMemorySessions()
		o := &mcpserver.HTTPOptions{Sessions: sessions, Events: store.NewMemoryEvents(0, 0)}
		server := newWebServer(t, mcpserver.Options{})
		a := serveWeb(t, server, o)
		before := a.open("2025-11-25")
		synctest.Wait()
		server.RemoveTools("echo")
		time.Sleep(time.Second)
		after := a.open("2025-11-25")
		a.end()
		late := newWebServer(t, mcpserver.Options{})
		b := serveWeb(t, late, o)
		synctest.Wait()
		s := b.stream("GET", "", "Mcp-Session-Id", before)
		if m := s.message(); m.Method != mcp.NotificationToolListChanged {
			t.Errorf("a session from before the change got %+v, want the change", m)
		}
		s.leave()
		s = b.stream("GET", "", "Mcp-Session-Id", after)
		late.RemoveTools("echo")
		e := s.next()
		if !strings.HasSuffix(e.ID, "-1") {
			t.Errorf("a session from behind the change got %s first, want nothing but what changes now", e.ID)
		}
		s.leave()
		synctest.Wait()
		b.end()
	})
}

func TestProcessWithoutHistoryReportsEverythingChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sessions := store.NewMemorySessions()
		o := &mcpserver.HTTPOptions{Sessions: sessions, Events: store.NewMemoryEvents(0, 0)}
		a := serveWeb(t, newWebServer(t, mcpserver.Options{}), o)
		before := a.open("2025-11-25")
		synctest.Wait()
		for range 5000 { // more signals than the store keeps
			must(t, sessions.Publish(t.Context(), "", []byte("{}")))
		}
		synctest.Wait()
		after := a.open("2025-11-25")
		b := serveWeb(t, newWebServer(t, mcpserver.Options{}), o)
		synctest.Wait()
		s := b.stream("GET", "", "Mcp-Session-Id", before)
		if m := s.message(); m.Method != mcp.NotificationToolListChanged {
			t.Errorf("got %+v, want what may have changed", m)
		}
		s.leave()
		s = b.stream("GET", "", "Mcp-Session-Id", after)
		synctest.Wait()
		if p := b.do("DELETE", "", "Mcp-Session-Id", after); p.status != http.StatusNoContent {
			t.Errorf("DELETE got %d, want 204", p.status)
		}
		s.over() // no change since the session was opened
		a.end()
		b.end()
	})
}

func TestCallStreamResumesInAnotherProcess(t *testing.T) {
	for _, version := range []string{"2025-03-26", "2025-06-18", "2025-11-25"} {
		t.Run(version, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				one, gate, cause := gated(t, mcpserver.Options{})
				other, _, _ := gated(t, mcpserver.Options{})
				all := processes(t, mcpserver.HTTPOptions{}, one, other)
				a, b := all[0], all[1]
				session := a.open(version)
				s := a.stream("POST", gatedCall, "Mcp-Session-Id", session)
				first := s.next()
				s.leave()
				synctest.Wait()
				s = b.resumed(session, first.ID)
				if version == "2025-11-25" {
					if m := s.message(); m.Method != mcp.NotificationProgress {
						t.Errorf("got %+v, want what was sent before", m)
					}
				}
				second := b.resumed(session, first.ID)
				s.over() // another process has taken over
				close(gate)
				var e string
				for !strings.Contains(e, `"id":5`) {
					e = string(second.next().Data)
				}
				second.over()
				for _, p := range all { // after the end of the stream, each process still has its events
					s := p.resumed(session, first.ID)
					for e = ""; !strings.Contains(e, `"id":5`); {
						e = string(s.next().Data)
					}
					s.over()
				}
				if len(cause) > 0 {
					t.Errorf("the handler's context ended with %v, want it to go on", <-cause)
				}
				for _, id := range []string{"7-0", "x", "1-99"} {
					if p := b.do("GET", "", "Mcp-Session-Id", session, "Last-Event-ID", id); p.status != http.StatusBadRequest {
						t.Errorf("an unknown event got %d, want 400", p.status)
					}
				}
				a.end()
				b.end()
			})
		})
	}
}

func TestClosedStreamResumesInAnotherProcess(t *testing.T) {
	isolated(t, mcpserver.HTTPOptions{}, func(t *testing.T, a, b process) {
		session := a.open("2025-11-25")
		s := a.stream("POST", callOf(7, "pause", "{}"), "Mcp-Session-Id", session)
		first := s.next()
		s.next()
		s.over()
		s = b.resumed(session, first.ID)
		if m := s.message(); m.ID != 7.0 || m.Result == nil {
			t.Errorf("got %+v, want the answer", m)
		}
		s.over()
	})
}

func TestCancellationReachesProcessOfItsRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, _, cause := gated(t, mcpserver.Options{})
		other, _, _ := gated(t, mcpserver.Options{})
		all := processes(t, mcpserver.HTTPOptions{}, one, other)
		a, b := all[0], all[1]
		session := a.open("2025-11-25")
		s := a.stream("POST", gatedCall, "Mcp-Session-Id", session)
		first := s.next()
		s.leave()
		synctest.Wait()
		s = b.resumed(session, first.ID)
		s.next()
		if p := b.post(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5,"reason":"bored"}}`,
			"Mcp-Session-Id", session); p.status != 202 {
			t.Errorf("the notification got %d, want 202", p.status)
		}
		if err := <-cause; err.Error() != "cancelled by the client: bored" {
			t.Errorf("the cause is %v, want the client's reason", err)
		}
		s.over()
		a.end()
		b.end()
	})
}

func TestStreamsOfDeadProcessEnd(t *testing.T) {
	for name, c := range map[string]struct{ version, call, answer string }{
		"a request": {"2025-11-25", gatedCall, `{"jsonrpc":"2.0","id":5,"error":`},
		"a batch":   {"2025-03-26", "[" + gatedCall + "," + pingRequest + "]", `[{"jsonrpc":"2.0","id":5,"error":`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				one, gate, _ := gated(t, mcpserver.Options{})
				other, _, _ := gated(t, mcpserver.Options{})
				all := processes(t, mcpserver.HTTPOptions{Lease: 6 * time.Second}, one, other)
				a, b := all[0], all[1]
				session := a.open(c.version)
				s := a.stream("POST", c.call, "Mcp-Session-Id", session)
				first := s.next()
				if c.version == "2025-11-25" {
					s.next()
				}
				a.store.cut.Store(true) // as if a signal had killed the process
				s.leave()
				start := time.Now()
				s = b.resumed(session, first.ID)
				if c.version == "2025-11-25" {
					s.next()
				}
				e := s.next()
				if !strings.HasPrefix(string(e.Data), c.answer) || !strings.Contains(string(e.Data), "has ended") {
					t.Errorf("got %s, want an error that answers the request", e.Data)
				}
				s.over()
				if took := time.Since(start); took < 4*time.Second || took > 10*time.Second {
					t.Errorf("it took %v, want about as long as the lease", took)
				}
				if p := b.post(pingRequest, "Mcp-Session-Id", session); p.status != http.StatusOK {
					t.Errorf("a request in the session got %d, want 200", p.status)
				}
				a.store.cut.Store(false) // the process was only disconnected, not killed
				close(gate)
				synctest.Wait()
				s = b.resumed(session, e.ID[:len(e.ID)-1]+"0")
				for range 10 {
					if last := s.next(); last.ID == e.ID {
						break
					}
				}
				s.over() // nothing follows the error
				a.end()
				b.end()
			})
		})
	}
}

func TestASessionExpiresWhenNoProcessUsesIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := telemetrytest.Recorder(t)
		o := mcpserver.Options{Telemetry: rec.Telemetry()}
		all := processes(t, mcpserver.HTTPOptions{Timeouts: mcpserver.HTTPTimeouts{Session: time.Minute}, KeepAlive: -1},
			newWebServer(t, o),
			newWebServer(t, o))
		a, b := all[0], all[1]
		session := a.open("2025-11-25")
		alive := func(p process) bool { return p.post(pingRequest, "Mcp-Session-Id", session).status == http.StatusOK }
		for range 3 {
			time.Sleep(59 * time.Second)
			if !alive(b) {
				t.Fatal("the session has expired, though it was used in another process")
			}
		}
		s := a.stream("GET", "", "Mcp-Session-Id", session)
		time.Sleep(time.Hour)
		if !alive(b) {
			t.Fatal("the session has expired, though a stream is open in another process")
		}
		s.leave()
		time.Sleep(59 * time.Second)
		if n := rec.Count("mcp.server.session.duration"); n != 0 {
			t.Errorf("telemetry saw %d sessions end, want none yet", n)
		}
		time.Sleep(2 * time.Minute)
		if alive(a) || alive(b) {
			t.Error("the session is alive, though nothing has happened for long")
		}
		a.end()
		b.end()
		if n := rec.Count("mcp.server.session.duration"); n != 1 {
			t.Errorf("telemetry saw %d sessions end, want one", n)
		}
	})
}

func TestHTTPWithSSEMessageReachesProcessOfItsStream(t *testing.T) {
	isolated(t, mcpserver.HTTPOptions{Timeouts: mcpserver.HTTPTimeouts{Confirm: -1}}, func(t *testing.T, a, b process) {
		s, address := a.oldSession("http://localhost/mcp")
		synctest.Wait()
		for id, body := range []string{initializeAs("2024-11-05"), callOf(1, "greet", `{"name":"x"}`),
			callOf(2, "greet", `{"name":"x"}`)} {
			if p := b.post(body, address); p.status != http.StatusAccepted {
				t.Fatalf("%s got %d with %s, want 202", body, p.status, p.body)
			}
			if m := s.message(); m.ID != float64(id) || m.Result == nil {
				t.Errorf("got %+v, want the answer", m)
			}
		}
		go a.post(pingRequest, address) // a is the process that serves the stream
		s.next()
		s.leave()
		time.Sleep(time.Second)
		for _, p := range []process{a, b} {
			if got := p.post(initialized, address); got.status != http.StatusNotFound {
				t.Errorf("a session without its stream got %d, want 404", got.status)
			}
		}
		s, address = a.oldSession("http://localhost/mcp")
		a.store.cut.Store(true)
		time.Sleep(time.Minute)
		if got := b.post(initialized, address); got.status != http.StatusNotFound {
			t.Errorf("a session of a dead process got %d, want 404", got.status)
		}
		s.leave()
		synctest.Wait()
	})
}

func TestInitializeSpanRecordsStoreFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := telemetrytest.Recorder(t)
		p := processes(t, mcpserver.HTTPOptions{}, newWebServer(t, mcpserver.Options{Telemetry: rec.Telemetry()}))[0]
		p.store.cut.Store(true)
		if got := p.post(initialize); got.status != http.StatusServiceUnavailable {
			t.Errorf("got %d with %s, want 503", got.status, got.body)
		}
		p.store.cut.Store(false)
		p.end()
		span := rec.Span("initialize")
		if got := attributeOf(span, "error.type"); got != "-32603" || span.Status().Code != codes.Error {
			t.Errorf("got error.type %q and %v, want -32603 and an error", got, span.Status())
		}
		if n := rec.Count("mcp.server.operation.duration", "mcp.method.name", "initialize", "error.type", "-32603"); n != 1 {
			t.Errorf("got %d failed operations, want 1", n)
		}
		if n := rec.Value("mcp_server.request.refused", "mcp_server.refusal.reason", "store"); n != 1 {
			t.Errorf("got %d refused requests, want 1", n)
		}
	})
}

func TestUnreachableStoreIsReported(t *testing.T) {
	isolated(t, mcpserver.HTTPOptions{}, func(t *testing.T, a, b process) {
		session := a.open("2025-11-25")
		fresh := a.post(initialize).header.Get("Mcp-Session-Id")
		a.store.cut.Store(true)
		for _, p := range []page{
			a.post(pingRequest, "Mcp-Session-Id", session),
			a.do("GET", "", "Mcp-Session-Id", session),
			a.do("DELETE", "", "Mcp-Session-Id", session),
			a.post(initialize),
			a.post(initialized, "Mcp-Session-Id", fresh),
			a.do("GET", ""),
		} {
			if p.status != http.StatusServiceUnavailable || p.header.Get("Retry-After") == "" ||
				!strings.Contains(p.body, "store") {
				t.Errorf("got %d with %s, want 503 and when to try again", p.status, p.body)
			}
		}
		body, headers := askedCall(1, "greet", `{"name":"x"}`)
		if p := a.post(body, headers...); p.status != http.StatusOK {
			t.Errorf("a modern request got %d, want 200: it needs no store", p.status)
		}
		if p := b.post(pingRequest, "Mcp-Session-Id", session); p.status != http.StatusOK {
			t.Errorf("another process got %d, want 200", p.status)
		}
		a.store.cut.Store(false)
		if p := a.post(pingRequest, "Mcp-Session-Id", session); p.status != http.StatusOK {
			t.Errorf("afterwards a request got %d, want 200", p.status)
		}
	})
}

func TestOversizedInitializeGetsNoSession(t *testing.T) {
	isolated(t, mcpserver.HTTPOptions{}, func(t *testing.T, a, _ process) {
		p := a.post(strings.Replace(initialize, `"name":"`, `"name":"`+strings.Repeat("x", 1<<20), 1))
		if p.header.Get("Mcp-Session-Id") != "" || !strings.Contains(p.body, "too large") {
			t.Errorf("got %v with %s, want an error", p.header, p.body)
		}
	})
}

func TestSessionsSurviveShutdown(t *testing.T) {
	isolated(t, mcpserver.HTTPOptions{}, func(t *testing.T, a, b process) {
		session := a.open("2025-11-25")
		s := a.stream("GET", "", "Mcp-Session-Id", session)
		go a.end()
		s.over()
		if p := b.post(pingRequest, "Mcp-Session-Id", session); p.status != http.StatusOK {
			t.Errorf("a request in the session got %d, want 200", p.status)
		}
	})
}

func TestSessionStoreNeedsSharedEvents(t *testing.T) {
	for name, o := range map[string]mcpserver.HTTPOptions{
		"no events":      {},
		"own events":     {Events: forgetful{}},
		"negative lease": {Lease: -1, NotResumable: true},
	} {
		o.Sessions = store.NewMemorySessions()
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: want a panic", name)
				}
			}()
			newServer(t, mcpserver.Options{}).HTTPHandler(&o)
		}()
	}
}
