package mcpserver_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/internal/testsupport/heap"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	"github.com/mcpotel/mcpotel/mcpserver"
	"github.com/mcpotel/mcpotel/mcpserver/store"
)

// from is the header by which tests say which address a request comes from.
const from = "X-From"

// serveAddresses serves s to clients at the addresses that they say.
func serveAddresses(t *testing.T, s *mcpserver.Server, o *mcpserver.HTTPOptions) *web {
	t.Helper()
	h := s.HTTPHandler(o)
	return serveHandler(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if address := r.Header.Get(from); address != "" {
			r.RemoteAddr = address
		}
		h.ServeHTTP(w, r)
	}), h)
}

// attack is a number of requests that are sent at once, and how they were answered.
type attack struct {
	leave   context.CancelFunc
	running sync.WaitGroup

	mu       sync.Mutex
	statuses map[int]int // guarded by mu; 0 for no answer
}

// attack sends n requests, and returns when nothing moves any more. They end with the test.
func (w *web) attack(t *testing.T, n int, make func(ctx context.Context, i int) *http.Request) *attack {
	t.Helper()
	ctx, leave := context.WithCancel(context.Background())
	a := &attack{leave: leave, statuses: map[int]int{}}
	t.Cleanup(a.end)
	for i := range n {
		r := make(ctx, i)
		a.running.Go(func() {
			resp, err := w.client.Do(r)
			status := 0
			if err == nil {
				status = resp.StatusCode
				if status == http.StatusServiceUnavailable && resp.Header.Get("Retry-After") == "" {
					t.Error("a 503 does not say when to come back: clients take it for no refusal")
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				_ = resp.Body.Close()
			}
			a.mu.Lock()
			defer a.mu.Unlock()
			a.statuses[status]++
		})
	}
	synctest.Wait()
	return a
}

func (a *attack) end() {
	a.leave()
	a.running.Wait()
}

// answered returns how many got this status.
func (a *attack) answered(status int) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.statuses[status]
}

// partial is a body of which the beginning comes, and nothing more until its request ends.
type partial struct {
	ctx  context.Context
	sent int
}

func (p *partial) Read(b []byte) (int, error) {
	if p.sent == 0 {
		<-p.ctx.Done()
		return 0, p.ctx.Err()
	}
	n := min(len(b), p.sent)
	clear(b[:n])
	p.sent -= n
	return n, nil
}

func (p *partial) Close() error { return nil }

// stalled returns a request whose body is announced and of which only a part comes.
func stalled(t *testing.T, ctx context.Context, announced int64, sent int, headers ...string) *http.Request {
	r := request(t, ctx, "POST", "", headers...)
	r.Body, r.ContentLength = &partial{ctx, sent}, announced
	return r
}

// servedAtOnce says that a call of a client is answered, and no time passes.
func (w *web) servedAtOnce(t *testing.T, name string, headers ...string) {
	t.Helper()
	start := time.Now()
	body, usual := askedCall(1, "greet", `{"name":"`+name+`"}`)
	if p := w.post(body, append(usual, headers...)...); p.status != http.StatusOK || time.Since(start) != 0 {
		t.Errorf("an honest client got %d after %v with %.200s, want its answer at once", p.status, time.Since(start), p.body)
	}
}

func TestBodiesThatDoNotComeTakeNoPlaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := serveWeb(t, newWebServer(t, mcpserver.Options{}), &mcpserver.HTTPOptions{MaxRequests: 8})
		a := w.attack(t, 100, func(ctx context.Context, i int) *http.Request {
			return stalled(t, ctx, int64(1000+100*i), 500)
		})
		w.servedAtOnce(t, "x")
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if n := a.answered(http.StatusRequestTimeout); n != 100 {
			t.Errorf("%d of 100 bodies got 408 after 10 s, want all", n)
		}
		a.end()
		w.end()
	})
}

func TestBodiesThatStopHalfwayTakeNoMoreThanTheRoomThereIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const frame, room, bodies = 1 << 20, 16 << 20, 40 // room as it is by default
		w := serveWeb(t, newWebServer(t, mcpserver.Options{FrameLimit: frame}), nil)
		var a *attack
		peak, took := heap.Measure(func() {
			a = w.attack(t, bodies, func(ctx context.Context, i int) *http.Request {
				length := int64(frame)
				if i%2 == 1 {
					length = -1
				}
				return stalled(t, ctx, length, frame/16*9)
			})
		})
		// Each connection needs some memory at both ends, too, and the test for what it sends.
		const limit = room + bodies*(200<<10)
		t.Logf("| bodies that stop halfway | %d | %.1f | %.1f | %.1f |", bodies, mib(peak), mib(limit), mib(took))
		if peak > limit {
			t.Errorf("%d bodies of %d bytes take %d KiB, want at most %d and little for each", bodies, frame, peak>>10, room>>10)
		}
		_, given := heap.Measure(func() {
			w.servedAtOnce(t, "x")
			w.servedAtOnce(t, strings.Repeat("x", 20_000))
			time.Sleep(20 * time.Second)
			synctest.Wait()
			a.end()
		})
		if timeout, busy := a.answered(408), a.answered(503); timeout+busy != bodies || timeout == 0 || busy == 0 {
			t.Errorf("%d bodies got 408 and %d 503 after 20 s, want %d in all", timeout, busy, bodies)
		}
		if left := took + given; left > 8<<20 {
			t.Errorf("afterwards %d KiB are left", left>>10)
		}
		w.servedAtOnce(t, strings.Repeat("x", frame-1000)) // all room is there again
		w.end()
	})
}

func TestABodyThatFindsNoRoomWaitsForIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const frame = 1 << 20
		slow := func(context.Context, *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
			time.Sleep(3 * time.Second)
			return nil, nil
		}
		w := serveWeb(t, withTool(t, mcpserver.Options{FrameLimit: frame}, "slow", slow), &mcpserver.HTTPOptions{MaxBodies: 5 * frame})
		large := func(ctx context.Context, i int) *http.Request {
			body, headers := askedCall(i, "slow", `{"pad":"`+strings.Repeat("x", frame-1000)+`"}`)
			return request(t, ctx, "POST", body, headers...)
		}
		a := w.attack(t, 8, large)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		// One or two at a time, three seconds each: some of those that wait are begun within five seconds.
		if ok, busy := a.answered(200), a.answered(503); ok < 2 || busy < 1 || ok+busy != 8 {
			t.Errorf("%d got their answers and %d 503, want some of both and 8 in all", ok, busy)
		}
		resp, err := w.client.Do(large(t.Context(), 9))
		if err != nil || resp.StatusCode != 200 {
			t.Errorf("afterwards got %v, %v; want an answer", resp, err)
		}
		resp.Body.Close()
		w.end()
	})
}

// opaque is what some middleware makes of a writer: nothing of it can be reached but what every writer has.
type opaque struct{ http.ResponseWriter }

// A writer that allows no deadlines lets no body stay for longer.
func TestABodyHasToComeAtARateBehindAWriterWithoutDeadlines(t *testing.T) {
	for name, tt := range map[string]struct {
		size, rate int // in bytes, and bytes a second
		status     int
		after      time.Duration
	}{
		"nothing comes of a small one": {100, 0, http.StatusRequestTimeout, 10 * time.Second},
		"nothing comes of a large one": {1 << 20, 0, http.StatusRequestTimeout, 10 * time.Second},
		"a small one drips":            {100, 1, http.StatusRequestTimeout, 10 * time.Second},
		"a large one is too slow":      {100_000, 4000, http.StatusRequestTimeout, 10 * time.Second},
		"a large one is fast enough":   {100_000, 25_000, http.StatusBadRequest, 4 * time.Second}, // zeros are no JSON
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rec := telemetrytest.Recorder(t)
				h := newWebServer(t, mcpserver.Options{Telemetry: rec.Telemetry()}).HTTPHandler(&mcpserver.HTTPOptions{KeepAlive: -1})
				w := serveHandler(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.ServeHTTP(opaque{w}, r) }), h)
				w.servedAtOnce(t, strings.Repeat("x", 10_000))
				conn := w.dial()
				start := time.Now()
				var sending sync.WaitGroup
				sending.Go(func() {
					_, err := fmt.Fprintf(conn, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"+
						"Accept: application/json, text/event-stream\r\nContent-Length: %d\r\n\r\n", tt.size)
					for left := tt.size; left > 0 && tt.rate > 0 && err == nil; left -= tt.rate {
						time.Sleep(time.Second)
						_, err = conn.Write(make([]byte, min(tt.rate, left)))
					}
				})
				resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
				if err != nil {
					t.Fatal(err)
				}
				if took := time.Since(start); resp.StatusCode != tt.status || took != tt.after {
					t.Errorf("got %d after %v, want %d after %v", resp.StatusCode, took, tt.status, tt.after)
				}
				synctest.Wait()
				if taken := h.Taken(); taken != (mcpserver.Taken{}) {
					t.Errorf("%+v is taken, want nothing, though the client is still there", taken)
				}
				conn.Close()
				sending.Wait()
				if n := len(rec.Logs("mcp_server.http.no_deadlines")); n != 1 {
					t.Errorf("the operator was told %d times, want once", n)
				}
				w.end()
			})
		})
	}
}

func TestABodyHasToComeAtARate(t *testing.T) {
	const size = 100_000
	for rate, want := range map[int]struct {
		status int
		after  time.Duration
	}{
		4000:  {http.StatusRequestTimeout, 10 * time.Second},
		5000:  {http.StatusBadRequest, 20 * time.Second}, // zeros are no JSON
		3334:  {http.StatusRequestTimeout, 10 * time.Second},
		25000: {http.StatusBadRequest, 4 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := serveWeb(t, newWebServer(t, mcpserver.Options{}), nil)
			conn := w.dial() // an http.Client may see the end of the connection before the response
			start := time.Now()
			var sending sync.WaitGroup
			sending.Go(func() {
				_, err := fmt.Fprintf(conn, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"+
					"Accept: application/json, text/event-stream\r\nContent-Length: %d\r\n\r\n", size)
				for left := size; left > 0 && err == nil; left -= rate {
					time.Sleep(time.Second)
					_, err = conn.Write(make([]byte, min(rate, left)))
				}
			})
			resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(err)
			}
			if took := time.Since(start); resp.StatusCode != want.status || took != want.after {
				t.Errorf("%d bytes a second: got %d after %v, want %d after %v", rate, resp.StatusCode, took, want.status, want.after)
			}
			conn.Close()
			sending.Wait()
			w.end()
		})
	}
}

func TestBareInitializeDoesNotFillTheTable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newWebServer(t, mcpserver.Options{})
		w := serveWeb(t, s, &mcpserver.HTTPOptions{MaxSessions: 100})
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

func TestAStreamOnWhichNothingIsAskedGivesWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := serveWeb(t, newWebServer(t, mcpserver.Options{}), &mcpserver.HTTPOptions{MaxSessions: 2, KeepAlive: -1})
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

// What one address does is at its own expense, even if it does all that an honest client does.
func TestOneAddressLeavesSessionsToOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := serveAddresses(t, newWebServer(t, mcpserver.Options{}), &mcpserver.HTTPOptions{MaxSessions: 100})
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

func TestOneSessionLeavesPlacesToOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := serveWeb(t, newWebServer(t, mcpserver.Options{}), &mcpserver.HTTPOptions{MaxRequests: 16})
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
		a.leave() // handlers of a legacy client go on
		synctest.Wait()
		w.servedAtOnce(t, "x")
		w.do("DELETE", "", "Mcp-Session-Id", hog)
		a.end()
		w.end()
	})
}

// A legacy client that leaves does not end its requests, so leaving makes no room for more of them.
func TestWhatIsHandledKeepsItsPlaceWhenItsClientLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const places = 16
		s := newWebServer(t, mcpserver.Options{})
		w := serveWeb(t, s, &mcpserver.HTTPOptions{MaxRequests: places})
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
				break // there are no more places
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

func TestAccountsLeavePlacesAndRoomToOthers(t *testing.T) {
	const frame = 1 << 20
	who := func(r *http.Request) string { return r.Header.Get(from) }
	for name, o := range map[string]mcpserver.HTTPOptions{"principal": {Principal: who}, "account": {Account: who}, "address": {}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o.MaxRequests = 16
				w := serveAddresses(t, newWebServer(t, mcpserver.Options{FrameLimit: frame}), &o)
				const hog, honest = "192.0.2.1:1", "192.0.2.2:1"
				slow := w.attack(t, 100, func(ctx context.Context, i int) *http.Request {
					body, headers := askedCall(i, "sleep", `{"seconds":3600}`)
					return request(t, ctx, "POST", body, append(headers, from, hog)...)
				})
				if busy := slow.answered(http.StatusServiceUnavailable); busy != 92 {
					t.Errorf("%d requests of one account got 503, want all but half of the places", busy)
				}
				large := w.attack(t, 40, func(ctx context.Context, _ int) *http.Request { return stalled(t, ctx, frame, frame/2, from, hog) })
				w.servedAtOnce(t, "x", from, honest)
				w.servedAtOnce(t, strings.Repeat("x", frame-1000), from, honest)
				slow.end()
				large.end()
				w.end()
			})
		})
	}
}

func TestWhatAClientSaysAboutItselfIsBounded(t *testing.T) {
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
		const most = limit + (12 << 20) // a frame, as the test makes it, sends it, and it is read and decoded
		t.Logf("| introductions with 2 MiB beside them | %d | %.1f | %.1f | %.1f |", sessions, mib(peak), mib(most), mib(took))
		if took > limit {
			t.Errorf("a session takes %d KiB, want at most 128", took/sessions>>10)
		}
		if peak > most {
			t.Errorf("%d KiB are in use at most, want %d", peak>>10, most>>10)
		}
		w.end()
	})
}

// A count of sessions bounds no memory where each may have 64 KiB of introduction.
func TestIntroductionsOfAllSessionsHaveOneBudgetInBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const budget, said = 2 << 20, 60_000
		s := newWebServer(t, mcpserver.Options{})
		w := serveAddresses(t, s, &mcpserver.HTTPOptions{MaxIntroductionBytes: budget, KeepAlive: -1})
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
			t.Errorf("%d bytes of introductions are counted and %d are in use, want at most %d and 40 KiB a session", n, took, budget)
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

		stream, address := w.oldSession("http://localhost/mcp") // of no account: it has no share
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

// Sessions that are not used are as short-lived where others know them too, and take no place there.
func TestSessionsOfAStoreThatAreNotUsedGiveWayInItToo(t *testing.T) {
	isolated(t, mcpserver.HTTPOptions{MaxSessions: 3, KeepAlive: -1}, func(t *testing.T, a, b process) {
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
