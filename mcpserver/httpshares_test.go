package mcpserver_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/internal/testsupport/heap"
	"github.com/mcpotel/mcpotel/mcpserver"
	"github.com/mcpotel/mcpotel/mcpserver/store"
)

func TestUnusedInitializeDoesNotFillSessionTable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newWebServer(t, mcpserver.Options{})
		w := serveWeb(t, s, &mcpserver.HTTPOptions{Limits: mcpserver.HTTPLimits{Sessions: 100}})
		honest := w.open("2025-11-25")
		bare := func(n int) {
			for range n {
				if p := w.post(initialize); p.status != http.StatusOK {
					t.Fatalf("initialize got %d, want a session", p.status)
				}
			}
		}
		bare(1000)
		second := w.open("2025-11-25")
		bare(1000)
		if n := s.Inspect().Handlers[0].Sessions; n != 100 {
			t.Errorf("there are %d sessions, want 100", n)
		}
		time.Sleep(31 * time.Second)
		synctest.Wait()
		if n := s.Inspect().Handlers[0].Sessions; n != 2 {
			t.Errorf("after half a minute there are %d sessions, want 2", n)
		}
		for _, id := range []string{honest, second} {
			if p := w.post(pingRequest, "Mcp-Session-Id", id); p.status != http.StatusOK {
				t.Errorf("a session that was used got %d, want it alive", p.status)
			}
		}
		w.end()
	})
}

func TestUnusedSSEStreamIsReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := serveWeb(t, newWebServer(t, mcpserver.Options{}),
			&mcpserver.HTTPOptions{Limits: mcpserver.HTTPLimits{Sessions: 2}, KeepAlive: -1})
		first, _ := w.oldSession("http://localhost/mcp")
		second, _ := w.oldSession("http://localhost/mcp")
		third, address := w.oldSession("http://localhost/mcp")
		first.over()
		w.post(initialized, address)
		time.Sleep(30 * time.Second)
		second.over()
		time.Sleep(time.Hour)
		if p := w.post(initialized, address); p.status != http.StatusAccepted {
			t.Errorf("a stream on which something was asked got %d, want it alive", p.status)
		}
		third.leave()
		w.end()
	})
}

// One address can use up only its own share, even if its requests look like the requests of an honest client.
func TestOneAddressLeavesSessionsForOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := serveAddresses(t, newWebServer(t, mcpserver.Options{}),
			&mcpserver.HTTPOptions{Limits: mcpserver.HTTPLimits{Sessions: 100}})
		open := func(address string, confirm bool) int {
			p := w.post(initialize, from, address)
			if id := p.header.Get("Mcp-Session-Id"); id != "" && confirm {
				w.post(initialized, "Mcp-Session-Id", id, from, address)
			}
			return p.status
		}
		opened := 0
		for i := range 200 {
			if open(fmt.Sprintf("[2001:db8::%x]:1", i+1), true) == http.StatusOK {
				opened++
			}
		}
		if opened != 50 {
			t.Errorf("one network has opened %d sessions, want half of them", opened)
		}
		if status := open("192.0.2.1:1", true); status != http.StatusOK {
			t.Errorf("another address got %d, want a session", status)
		}
		waiting := w.post(initialize, from, "192.0.2.2:1").header.Get("Mcp-Session-Id")
		for range 300 {
			if status := open("198.51.100.1:1", false); status != http.StatusOK {
				t.Fatalf("a third address got %d, want a session", status)
			}
		}
		if p := w.post(initialized, "Mcp-Session-Id", waiting, from, "192.0.2.2:1"); p.status != http.StatusAccepted {
			t.Errorf("a session that another address opened before got %d, want it alive", p.status)
		}
		w.end()
	})
}

func TestOneSessionLeavesPlacesForOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := serveWeb(t, newWebServer(t, mcpserver.Options{}),
			&mcpserver.HTTPOptions{Limits: mcpserver.HTTPLimits{Requests: 16}})
		hog, other := w.open("2025-11-25"), w.open("2025-11-25")
		slow := func(ctx context.Context, i int) *http.Request {
			return request(t, ctx, "POST", callOf(i+1, "sleep", `{"seconds":3600}`), "Mcp-Session-Id", hog)
		}
		a := w.attack(t, 100, slow)
		if busy := a.answered(http.StatusTooManyRequests) + a.answered(http.StatusServiceUnavailable); busy != 92 {
			t.Errorf("%d requests of one session got 429 or 503, want all but half of the places", busy)
		}
		w.servedAtOnce(t, "x")
		if p := w.post(callOf(1, "greet", `{"name":"x"}`), "Mcp-Session-Id", other); p.status != http.StatusOK {
			t.Errorf("another session got %d, want its answer", p.status)
		}
		a.leave() // the handlers of a legacy client continue
		synctest.Wait()
		w.servedAtOnce(t, "x")
		w.do("DELETE", "", "Mcp-Session-Id", hog)
		a.end()
		w.end()
	})
}

// The requests of a legacy client keep running after it disconnects. So disconnecting frees no places for more
// requests.
func TestRunningRequestKeepsPlaceAfterDisconnect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const places = 16
		s := newWebServer(t, mcpserver.Options{})
		w := serveWeb(t, s, &mcpserver.HTTPOptions{Limits: mcpserver.HTTPLimits{Requests: places}})
		var sessions []string
		for range 5 {
			sessions = append(sessions, w.open("2025-11-25"))
			session := sessions[len(sessions)-1]
			a := w.attack(t, 20, func(ctx context.Context, i int) *http.Request {
				return request(t, ctx, "POST", callOf(i+1, "sleep", `{"seconds":60}`), "Mcp-Session-Id", session)
			})
			a.end()
			synctest.Wait()
			if n := s.Inspect().InFlight; n > places {
				t.Fatalf("%d requests are handled at once, want at most %d", n, places)
			}
			if len(sessions) == 2 {
				break // no place is free
			}
		}
		body, headers := askedCall(1, "greet", `{"name":"x"}`)
		if p := w.post(body, headers...); p.status != http.StatusServiceUnavailable || p.header.Get("Retry-After") == "" {
			t.Errorf("got %d with %v, want 503 and when to try again", p.status, p.header)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		w.servedAtOnce(t, "x")
		w.end()
	})
}

func TestOneAccountLeavesPlacesAndMemoryForOthers(t *testing.T) {
	const frame = 1 << 20
	who := func(r *http.Request) string { return r.Header.Get(from) }
	for name, o := range map[string]mcpserver.HTTPOptions{"principal": {Principal: who}, "account": {Account: who},
		"address": {}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o.Limits.Requests = 16
				w := serveAddresses(t, newWebServer(t, mcpserver.Options{Limits: mcpserver.Limits{Frame: frame}}), &o)
				const hog, honest = "192.0.2.1:1", "192.0.2.2:1"
				slow := w.attack(t, 100, func(ctx context.Context, i int) *http.Request {
					body, headers := askedCall(i, "sleep", `{"seconds":3600}`)
					return request(t, ctx, "POST", body, append(headers, from, hog)...)
				})
				if busy := slow.answered(http.StatusServiceUnavailable); busy != 92 {
					t.Errorf("%d requests of one account got 503, want all but half of the places", busy)
				}
				large := w.attack(t, 40, func(ctx context.Context,
					_ int) *http.Request {
					return stalled(t, ctx, frame, frame/2, from, hog)
				})
				w.servedAtOnce(t, "x", from, honest)
				w.servedAtOnce(t, strings.Repeat("x", frame-1000), from, honest)
				slow.end()
				large.end()
				w.end()
			})
		})
	}
}

func TestInitializeParamsSizeIsLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newWebServer(t, mcpserver.Options{})
		w := serveWeb(t, s, nil)
		as := func(info, capabilities, rest string) string {
			return `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25",` +
				`"clientInfo":{"name":"c","version":"1"` + info + `},"capabilities":{` + capabilities + `}` + rest + `}}`
		}
		large := strings.Repeat("x", 40_000)
		for name, body := range map[string]string{
			"a name":        as(`,"title":"`+large+large+`"`, "", ""),
			"both together": as(`,"title":"`+large+`"`, `"experimental":{"x":{"a":"`+large+`"}}`, ""),
			"many icons":    as(`,"icons":[{"src":"x"}`+strings.Repeat(`,{"src":"x"}`, 2000)+`]`, "", ""),
			"many unknown": as("", `"x":0`+func() (all string) {
				for i := range 2000 {
					all += fmt.Sprintf(`,"x%d":0`, i)
				}
				return all
			}(), ""),
		} {
			p := w.post(body)
			if m := decoded(t, p.body); m.Error == nil || m.Error.Code != -32602 || p.header.Get("Mcp-Session-Id") != "" {
				t.Errorf("%s: got %.300s, want it refused", name, p.body)
			}
		}
		const sessions = 20
		const limit = sessions * 128 << 10
		peak, took := heap.Measure(func() {
			for range sessions {
				body := as(`,"title":"`+large+`"`, "", `,"_meta":{"junk":"`+strings.Repeat("x", 2<<20)+`"}`)
				if p := w.post(body); p.header.Get("Mcp-Session-Id") == "" {
					t.Fatalf("got %d with %.300s, want a session", p.status, p.body)
				}
			}
		})
		const most = limit + (12 << 20) // 12 MiB for one frame: in the test that sends it and the server that decodes it
		t.Logf("| introductions with 2 MiB beside them | %d | %.1f | %.1f | %.1f |", sessions, mib(peak), mib(most),
			mib(took))
		if took > limit {
			t.Errorf("a session takes %d KiB, want at most 128", took/sessions>>10)
		}
		if peak > most {
			t.Errorf("%d KiB are in use at most, want %d", peak>>10, most>>10)
		}
		w.end()
	})
}

// A limit on the number of sessions does not limit memory, because each session may have an introduction of 64 KiB.
func TestInitializeParamsOfAllSessionsShareOneByteBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const budget, said = 2 << 20, 60_000
		s := newWebServer(t, mcpserver.Options{})
		w := serveAddresses(t, s, &mcpserver.HTTPOptions{Limits: mcpserver.HTTPLimits{IntroductionBytes: budget},
			KeepAlive: -1})
		large := strings.Replace(initialize, `"clientInfo":{`, `"clientInfo":{"title":"`+strings.Repeat("x", said)+`",`, 1)
		const attacker, other = "[2001:db8::1]:1", "192.0.2.1:1"
		honest := w.post(initialize, from, other).header.Get("Mcp-Session-Id")
		w.post(initialized, "Mcp-Session-Id", honest, from, other)
		w.post(large, from, attacker)

		_, took := heap.Measure(func() {
			for range 300 {
				if p := w.post(large, from, attacker); p.status != http.StatusOK {
					t.Fatalf("initialize got %d: %s, want a session", p.status, p.body)
				}
			}
			synctest.Wait()
		})
		sessions := s.Inspect().Handlers[0].Sessions
		t.Logf("300 introductions of %d KiB: %d sessions, %.1f MiB", said>>10, sessions, mib(took))
		if n := w.handler.Taken().Introductions; n > budget || took > budget+sessions*(40<<10) {
			t.Errorf("%d bytes of introductions are counted and %d are in use, want at most %d and 40 KiB a session", n, took,
				budget)
		}
		var mine []string
		refused := 0
		for range 40 {
			p := w.post(large, from, attacker)
			id := p.header.Get("Mcp-Session-Id")
			switch {
			case p.status == http.StatusOK:
				w.post(initialized, "Mcp-Session-Id", id, from, attacker)
				mine = append(mine, id)
			case p.status == http.StatusServiceUnavailable && p.header.Get("Retry-After") != "" && id == "":
				refused++
			default:
				t.Fatalf("initialize got %d, %v: %s", p.status, p.header, p.body)
			}
		}
		if all := len(mine) * said; all > budget/2 || all < budget/2-2*said {
			t.Errorf("one account has %d bytes of introductions in sessions that are used, want half of %d", all, budget)
		}
		if p := w.post(large, from, other); p.status != http.StatusOK {
			t.Errorf("another account got %d: %s, want a session", p.status, p.body)
		}
		if p := w.post(pingRequest, "Mcp-Session-Id", honest, from, other); p.status != http.StatusOK {
			t.Errorf("a session that was used got %d, want it alive", p.status)
		}

		stream, address := w.oldSession("http://localhost/mcp") // this session has no account, and so no share
		go w.post(large, address)
		if m := stream.message(); m.Error != nil {
			t.Errorf("initialize over HTTP+SSE got %+v, want a session", m.Error)
		}
		if n := w.handler.Taken().Introductions; n < (len(mine)+2)*said || n > budget {
			t.Errorf("%d bytes are counted, want those of %d sessions, HTTP+SSE included", n, len(mine)+2)
		}
		stream.leave()
		for _, id := range mine {
			w.do("DELETE", "", "Mcp-Session-Id", id, from, attacker)
		}
		w.do("DELETE", "", "Mcp-Session-Id", honest, from, other)
		time.Sleep(31 * time.Second)
		synctest.Wait()
		if left := w.handler.Taken(); left != (mcpserver.Taken{}) {
			t.Errorf("in the end %+v is taken, want nothing", left)
		}
		w.end()
	})
}

// Unused sessions in a store expire as early as sessions of one process, and free their place in the store.
func TestUnusedStoredSessionsAreEvicted(t *testing.T) {
	isolated(t, mcpserver.HTTPOptions{Limits: mcpserver.HTTPLimits{Sessions: 3}, KeepAlive: -1},
		func(t *testing.T, a, b process) {
			bare := func() string { return a.post(initialize).header.Get("Mcp-Session-Id") }
			used := bare()
			time.Sleep(time.Second)
			if p := b.post(initialized, "Mcp-Session-Id", used); p.status != http.StatusAccepted {
				t.Fatalf("a session that was opened in another process got %d, want 202", p.status)
			}
			time.Sleep(time.Second)
			var ids []string
			for range 5 {
				ids = append(ids, bare())
				time.Sleep(time.Second)
			}
			for i, id := range ids[:2] {
				if _, _, err := a.store.Sessions.Use(t.Context(), id, 0, time.Hour); err != store.ErrNoSession {
					t.Errorf("session %d, which gave way, is in the store: %v", i, err)
				}
			}
			if p := b.post(pingRequest, "Mcp-Session-Id", used); p.status != http.StatusOK {
				t.Errorf("a session that is used in another process got %d, want it alive", p.status)
			}
			time.Sleep(40 * time.Second)
			for i, id := range ids {
				if _, _, err := a.store.Sessions.Use(t.Context(), id, 0, time.Hour); err != store.ErrNoSession {
					t.Errorf("session %d, which was never used, is in the store after 40 s: %v", i, err)
				}
			}
			if p := a.post(pingRequest, "Mcp-Session-Id", used); p.status != http.StatusOK {
				t.Errorf("the session that is used got %d, want it alive", p.status)
			}
		})
}
