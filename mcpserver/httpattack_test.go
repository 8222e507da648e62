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
)

// from is the header in which a test sets the remote address of a request.
const from = "X-From"

// serveAddresses serves s. The header of each request contains its remote address.
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

// attack is a number of concurrent requests with their responses.
type attack struct {
	leave   context.CancelFunc
	running sync.WaitGroup

	mu       sync.Mutex
	statuses map[int]int // guarded by mu; 0 means no answer
}

// attack sends n requests, and returns when all goroutines are blocked. The requests end when the test ends.
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

// answered returns the number of responses with the given status.
func (a *attack) answered(status int) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.statuses[status]
}

// partial is a body that stops after its first bytes and blocks until its request ends.
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

// stalled returns a request that announces a body but sends only a part of it.
func stalled(t *testing.T, ctx context.Context, announced int64, sent int, headers ...string) *http.Request {
	r := request(t, ctx, "POST", "", headers...)
	r.Body, r.ContentLength = &partial{ctx, sent}, announced
	return r
}

// servedAtOnce checks that the server answers a call of a client without any delay.
func (w *web) servedAtOnce(t *testing.T, name string, headers ...string) {
	t.Helper()
	start := time.Now()
	body, usual := askedCall(1, "greet", `{"name":"`+name+`"}`)
	if p := w.post(body, append(usual, headers...)...); p.status != http.StatusOK || time.Since(start) != 0 {
		t.Errorf("an honest client got %d after %v with %.200s, want its answer at once", p.status, time.Since(start), p.body)
	}
}

func TestMissingBodiesTakeNoPlaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := serveWeb(t, newWebServer(t, mcpserver.Options{}),
			&mcpserver.HTTPOptions{Limits: mcpserver.HTTPLimits{Requests: 8}})
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

func TestIncompleteBodiesRespectMemoryLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const frame, room, bodies = 1 << 20, 16 << 20, 40 // room is the default of HTTPLimits.Bodies
		w := serveWeb(t, newWebServer(t, mcpserver.Options{Limits: mcpserver.Limits{Frame: frame}}), nil)
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
		// Each connection also needs some memory at both ends. So does the data that the test sends.
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
		w.servedAtOnce(t, strings.Repeat("x", frame-1000)) // all memory for bodies is free again
		w.end()
	})
}

func TestBodyWaitsForMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const frame = 1 << 20
		slow := func(context.Context, *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
			time.Sleep(3 * time.Second)
			return nil, nil
		}
		w := serveWeb(t, withTool(t, mcpserver.Options{Limits: mcpserver.Limits{Frame: frame}}, "slow", slow),
			&mcpserver.HTTPOptions{Limits: mcpserver.HTTPLimits{Bodies: 5 * frame}})
		large := func(ctx context.Context, i int) *http.Request {
			body, headers := askedCall(i, "slow", `{"pad":"`+strings.Repeat("x", frame-1000)+`"}`)
			return request(t, ctx, "POST", body, headers...)
		}
		a := w.attack(t, 8, large)
		time.Sleep(10 * time.Second)
		synctest.Wait()
		// The server handles one or two bodies at a time, for three seconds each. So some of the waiting bodies start within
		// five seconds.
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

// opaque models a middleware that hides all methods of a ResponseWriter except the standard ones.
type opaque struct{ http.ResponseWriter }

// A body gets no extra time if the writer has no deadlines.
func TestMinimumBodyRateWithoutWriterDeadlines(t *testing.T) {
	for name, tt := range map[string]struct {
		size, rate int // in bytes, and in bytes per second
		status     int
		after      time.Duration
	}{
		"small body that never arrives":       {100, 0, http.StatusRequestTimeout, 10 * time.Second},
		"large body that never arrives":       {1 << 20, 0, http.StatusRequestTimeout, 10 * time.Second},
		"small body that arrives too slowly":  {100, 1, http.StatusRequestTimeout, 10 * time.Second},
		"large body that arrives too slowly":  {100_000, 4000, http.StatusRequestTimeout, 10 * time.Second},
		"large body that arrives fast enough": {100_000, 25_000, http.StatusBadRequest, 4 * time.Second}, // it is not JSON
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rec := telemetrytest.Recorder(t)
				h := newWebServer(t,
					mcpserver.Options{Telemetry: rec.Telemetry()}).HTTPHandler(&mcpserver.HTTPOptions{KeepAlive: -1})
				w := serveHandler(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.ServeHTTP(opaque{w}, r) }),
					h)
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

func TestMinimumBodyRate(t *testing.T) {
	const size = 100_000
	for rate, want := range map[int]struct {
		status int
		after  time.Duration
	}{
		4000:  {http.StatusRequestTimeout, 10 * time.Second},
		5000:  {http.StatusBadRequest, 20 * time.Second}, // the body is not JSON
		3334:  {http.StatusRequestTimeout, 10 * time.Second},
		25000: {http.StatusBadRequest, 4 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := serveWeb(t, newWebServer(t, mcpserver.Options{}), nil)
			conn := w.dial() // not an http.Client, which may notice the end of the connection before the response
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
				t.Errorf("%d bytes a second: got %d after %v, want %d after %v", rate, resp.StatusCode, took, want.status,
					want.after)
			}
			conn.Close()
			sending.Wait()
			w.end()
		})
	}
}
