package mcpserver_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// ending ends a handler without a return, for example by a panic.
type ending func()

var endings = map[string]ending{"panic": func() { panic("oops") }, "Goexit": runtime.Goexit}

// failsAt returns a middleware that fails in a method, before or after its handler.
func failsAt(method string, end ending, behind bool) middleware {
	return func(next mcpserver.RequestHandler) mcpserver.RequestHandler {
		return func(ctx context.Context, r *mcpserver.Request) (any, error) {
			if r.Method != method {
				return next(ctx, r)
			}
			if behind {
				_, _ = next(ctx, r)
			}
			end()
			return nil, nil
		}
	}
}

func TestFailedInitializeReleasesEverything(t *testing.T) {
	for name, end := range endings {
		for _, behind := range []bool{false, true} {
			t.Run(fmt.Sprint(name, behind), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					o := mcpserver.Options{Middleware: []middleware{failsAt("initialize", end, behind)}}
					w := serveWeb(t, newWebServer(t, o), &mcpserver.HTTPOptions{Limits: mcpserver.HTTPLimits{Sessions: 2}})
					for range 4 {
						p := w.post(initialize)
						if m := decoded(t, p.body); m.Error == nil || m.Error.Code != mcp.CodeInternalError {
							t.Errorf("got %d with %s, want an internal error", p.status, p.body)
						}
						synctest.Wait()
					}
					if taken := w.handler.Taken(); taken != (mcpserver.Taken{}) {
						t.Errorf("%+v is still taken", taken)
					}
					w.end()
				})
			})
		}
	}
}

func TestFailedMethodIsAnsweredWithInternalError(t *testing.T) {
	for name, end := range endings {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := mcpserver.Options{Middleware: []middleware{failsAt("ping", end, false)}}
				w := serveWeb(t, newWebServer(t, o), &mcpserver.HTTPOptions{KeepAlive: -1})
				for _, version := range []string{"2025-03-26", "2025-11-25"} {
					id := w.open(version)
					p := w.post(pingRequest, "Mcp-Session-Id", id)
					synctest.Wait() // Goexit also ends the connection
					if m := decoded(t, p.body); m.Error == nil || m.Error.Code != mcp.CodeInternalError {
						t.Errorf("%s: got %d with %s, want an internal error", version, p.status, p.body)
					}
					if version == "2025-03-26" {
						p = w.post("["+pingRequest+","+callOf(1, "greet", `{"name":"x"}`)+"]", "Mcp-Session-Id", id)
						synctest.Wait()
						if !strings.Contains(p.body, "Hello, x!") || !strings.Contains(p.body, `"ping"`) {
							t.Errorf("a batch got %d with %s, want both answers", p.status, p.body)
						}
					}
					w.do("DELETE", "", "Mcp-Session-Id", id)
				}
				stream, address := w.oldSession("http://localhost/mcp")
				for _, body := range []string{initializeAs("2024-11-05"), pingRequest} {
					status := make(chan int, 1)
					go func() { status <- w.post(body, address).status }()
					if m := stream.message(); (m.Error != nil) != (body == pingRequest) {
						t.Errorf("HTTP+SSE: got %+v, want an error of ping only", m)
					}
					if got := <-status; got != http.StatusAccepted {
						t.Errorf("HTTP+SSE: got %d, want 202", got)
					}
				}
				stream.leave()
				synctest.Wait()
				if taken := w.handler.Taken(); taken != (mcpserver.Taken{}) {
					t.Errorf("%+v is still taken", taken)
				}
				w.end()
			})
		})
	}
}

// Whatever clients and handlers do, the HTTP handler releases all places and all memory afterwards.
func TestPlacesAndMemoryAreReleased(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { anyMix(t, rand.New(rand.NewPCG(seed, 12))) })
		})
	}
}

// chaos is a tool whose argument selects its behaviour.
func chaos(ctx context.Context, r *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
	do := string(r.Arguments)
	if strings.Contains(do, "ask") {
		ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
		defer cancel()
		_, _ = r.Elicit(ctx, &mcp.ElicitParams{Message: "m", RequestedSchema: nameForm})
	}
	if strings.Contains(do, "tell") {
		_ = r.Progress(ctx, 1, 2, "m")
	}
	if strings.Contains(do, "sleep") {
		select {
		case <-time.After(2 * time.Second):
		case <-ctx.Done():
		}
	}
	switch {
	case strings.Contains(do, "panic"):
		panic("oops")
	case strings.Contains(do, "exit"):
		runtime.Goexit()
	}
	return &mcp.CallToolResult{Content: mcp.ContentList{mcp.Text(do[:min(9, len(do))])}}, nil
}

func anyMix(t *testing.T, rnd *rand.Rand) {
	const frame = 1 << 16
	erratic := func(next mcpserver.RequestHandler) mcpserver.RequestHandler {
		return func(ctx context.Context, r *mcpserver.Request) (any, error) {
			switch p := string(r.Params); {
			case strings.Contains(p, "mw-before"):
				runtime.Goexit()
			case strings.Contains(p, "mw-behind"):
				_, _ = next(ctx, r)
				runtime.Goexit()
			}
			return next(ctx, r)
		}
	}
	s := newWebServer(t, mcpserver.Options{
		Limits:     mcpserver.Limits{Frame: frame, Concurrent: 3, Queued: 3},
		Middleware: []middleware{erratic}, RequestTimeout: time.Minute,
	})
	if err := s.AddTool(&mcp.Tool{Name: "chaos"}, chaos); err != nil {
		t.Fatal(err)
	}
	if err := s.AddTool(&mcp.Tool{Name: "chaosTask"}, chaos, mcpserver.TaskTool()); err != nil {
		t.Fatal(err)
	}
	w := serveAddresses(t, s, &mcpserver.HTTPOptions{Limits: mcpserver.HTTPLimits{Requests: 20, Sessions: 6,
		Bodies: 5 * frame}, KeepAlive: -1,
		Timeouts: mcpserver.HTTPTimeouts{Confirm: time.Hour}})
	var mu sync.Mutex
	sessions := []string{"none"}
	var running sync.WaitGroup
	pick := func(of ...string) string { return of[rnd.IntN(len(of))] }
	for i := range 150 {
		ctx, leave := context.WithCancel(context.Background())
		address := fmt.Sprintf("192.0.2.%d:1", rnd.IntN(3))
		args := fmt.Sprintf(`{"do":"%s %s %s %s","pad":%q}`, pick("", "ask"), pick("", "tell"), pick("", "sleep"),
			pick("", "panic", "exit", "mw-before", "mw-behind"), strings.Repeat("x", rnd.IntN(3)*rnd.IntN(frame/4)))
		tool := pick("chaos", "chaos", "chaosTask")
		mu.Lock()
		session := sessions[rnd.IntN(len(sessions))]
		mu.Unlock()
		var r *http.Request
		kind := rnd.IntN(9)
		switch kind {
		case 0, 1:
			version := pick("2025-03-26", "2025-11-25")
			body := strings.Replace(initializeAs(version), `"capabilities":{}`, `"capabilities":{"elicitation":{}}`, 1)
			r = request(t, ctx, "POST", strings.Replace(body, `"version":`, pick("", "", `"title":"mw-behind",`)+`"version":`,
				1), from, address)
		case 2:
			body, headers := askedCall(i, tool, args)
			r = request(t, ctx, "POST", body, append(headers, from, address)...)
		case 3:
			r = request(t, ctx, "POST", "["+callOf(i, tool, args)+","+callOf(i+1000, "chaos", args)+","+pingRequest+",7]",
				"Mcp-Session-Id", session, from, address)
		case 4:
			r = request(t, ctx, "POST", fmt.Sprintf(
				`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, i-rnd.IntN(9)), "Mcp-Session-Id",
				session, from, address)
		case 5:
			if i%3 == 0 {
				r = request(t, ctx, "DELETE", "", "Mcp-Session-Id", session, from, address)
				break
			}
			r = stalled(t, ctx, pick64(rnd, frame, 100, -1), rnd.IntN(frame/2), from, address)
		default:
			r = request(t, ctx, "POST", callOf(i, tool, args), "Mcp-Session-Id", session, from, address)
		}
		if rnd.IntN(4) == 0 {
			time.AfterFunc(time.Duration(rnd.IntN(4000))*time.Millisecond, leave)
		}
		running.Go(func() {
			defer leave()
			resp, err := w.client.Do(r)
			if err != nil {
				return
			}
			if id := resp.Header.Get("Mcp-Session-Id"); id != "" {
				mu.Lock()
				sessions = append(sessions, id)
				mu.Unlock()
			}
			_, _ = io.Copy(io.Discard, resp.Body)
			_ = resp.Body.Close()
		})
		if rnd.IntN(3) == 0 {
			time.Sleep(time.Duration(rnd.IntN(700)) * time.Millisecond)
		}
	}
	running.Wait()
	time.Sleep(2 * time.Minute)
	synctest.Wait()
	taken := w.handler.Taken()
	if taken.Places != 0 || taken.Bytes != 0 || taken.Inside != 0 {
		t.Errorf("%+v is still taken when nothing is going on", taken)
	}
	if n := s.Inspect().InFlight; n != 0 {
		t.Errorf("%d requests are in flight when nothing is going on", n)
	}
	for _, id := range sessions {
		w.do("DELETE", "", "Mcp-Session-Id", id)
	}
	synctest.Wait()
	if taken := w.handler.Taken(); taken != (mcpserver.Taken{}) {
		t.Errorf("%+v is still taken when all sessions have ended", taken)
	}
	w.end()
}

func pick64(rnd *rand.Rand, of ...int64) int64 { return of[rnd.IntN(len(of))] }
