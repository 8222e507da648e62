package mcpclient_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
)

var exactlyOnceCalls = flag.Int("exactlyonce.calls", 2000, "calls of TestToolsRunAtMostOnce, of all its ways together")

// ledger counts how often the server's tools have run with each argument.
type ledger struct {
	mu   sync.Mutex
	runs map[int]int // guarded by mu
}

type entry struct {
	N int `json:"n"`
}

func (l *ledger) note(_ context.Context, e entry) (entry, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.runs[e.N]++
	return e, nil
}

func (l *ledger) times(n int) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.runs[n]
}

// server returns a server with two tools that do the same: write, and read, which has a readOnlyHint.
func (l *ledger) server() *mcpserver.Server {
	s := mcpserver.New(mcp.Implementation{Name: "ledger", Version: "1"}, nil)
	read := &mcp.Tool{Name: "read", Annotations: &mcp.ToolAnnotations{ReadOnlyHint: new(true)}}
	for _, tool := range []*mcp.Tool{{Name: "write"}, read} {
		if err := mcpserver.AddTool(s, tool, l.note); err != nil {
			panic(err)
		}
	}
	return s
}

// fates are the possible outcomes of a call at the proxy. If an answer claims that the call had no effect, that is
// true.
var fates = []struct {
	name  string
	ran   bool     // the server runs the call first
	says  []string // header fields of the answer
	does  int      // status of the answer; 0 means that the proxy cuts the connection without an answer
	cuts  bool     // the proxy cuts the connection within the server's own answer
	error bool     // the body is a JSON-RPC error
}{
	{name: "cut before"},
	{name: "429", does: 429},
	{name: "503 with Retry-After", does: 503, says: []string{"Retry-After", "0"}},
	{name: "503 with an error", does: 503, error: true},
	{name: "502 before", does: 502},
	{name: "503 before", does: 503},
	{name: "504 before", does: 504},
	{name: "redirect", does: 307, says: []string{"Location", "/again"}},

	{name: "cut behind", ran: true},
	{name: "answer cut", ran: true, cuts: true},
	{name: "502", ran: true, does: 502},
	{name: "502 with Retry-After", ran: true, does: 502, says: []string{"Retry-After", "0"}},
	{name: "503", ran: true, does: 503},
	{name: "503 with nonsense", ran: true, does: 503, says: []string{"Retry-After", "soon"}},
	{name: "504", ran: true, does: 504},
	{name: "504 with Retry-After", ran: true, does: 504, says: []string{"Retry-After", "1"}},
	{name: "403 of a filter", ran: true, does: 403},
	{name: "408", ran: true, does: 408},
	{name: "425", ran: true, does: 425},
	{name: "500", ran: true, does: 500},
	{name: "302", ran: true, does: 302, says: []string{"Location", "/again"}},
}

// unfair is a proxy between a client and a server. It restarts the server now and then.
type unfair struct {
	ledger *ledger
	site   *httptest.Server
	server atomic.Pointer[mcpserver.HTTPHandler]
	calls  atomic.Int64
	old    sync.WaitGroup // servers that are shutting down

	mu   sync.Mutex
	rand *rand.Rand     // guarded by mu
	met  map[string]int // guarded by mu
}

func newUnfair(t *testing.T, seed uint64) *unfair {
	u := &unfair{ledger: &ledger{runs: map[int]int{}}, rand: rand.New(rand.NewPCG(seed, 0)), met: map[string]int{}}
	u.server.Store(u.ledger.server().HTTPHandler(nil))
	u.site = httptest.NewServer(u)
	t.Cleanup(func() {
		u.shutDown(u.server.Load())
		u.old.Wait()
		u.site.Close()
	})
	return u
}

func (u *unfair) shutDown(h *mcpserver.HTTPHandler) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	_ = h.Shutdown(ctx)
}

// kill ends the server with all its sessions, and cuts every connection.
func (u *unfair) kill() {
	old := u.server.Swap(u.ledger.server().HTTPHandler(nil))
	u.old.Go(func() { u.shutDown(old) })
	u.old.Go(u.site.CloseClientConnections)
}

// fate draws the fate of a call. A negative result means that the call passes unchanged.
func (u *unfair) fate() int {
	u.mu.Lock()
	defer u.mu.Unlock()
	i := u.rand.IntN(2*len(fates)) - len(fates)
	if i >= 0 {
		u.met[fates[i].name]++
	}
	return i
}

func (u *unfair) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	fate := -1
	if bytes.Contains(body, []byte(`"tools/call"`)) {
		if fate = u.fate(); u.calls.Add(1)%150 == 0 {
			u.kill()
		}
	}
	if fate < 0 {
		u.server.Load().ServeHTTP(w, r)
		return
	}
	f, answer := fates[fate], httptest.NewRecorder()
	if f.ran {
		u.server.Load().ServeHTTP(answer, r)
	}
	maps.Copy(w.Header(), answer.Header())
	switch whole := answer.Body.Bytes(); {
	case f.cuts:
		w.Header().Set("Content-Length", fmt.Sprint(len(whole)+1))
		w.WriteHeader(answer.Code)
		_, _ = w.Write(whole[:len(whole)/2])
		panic(http.ErrAbortHandler)
	case f.does == 0:
		panic(http.ErrAbortHandler)
	}
	clear(w.Header())
	for i := 0; i < len(f.says); i += 2 {
		w.Header().Set(f.says[i], f.says[i+1])
	}
	text := "<html>the proxy has a word</html>"
	if f.error {
		text = `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"full"}}`
	}
	w.WriteHeader(f.does)
	_, _ = io.WriteString(w, text)
}

// tally counts how calls ended.
type tally struct{ answered, safe, unknown, repeated atomic.Int64 }

// A call that may have run must not be repeated, neither by the client nor by a user who relies on SafeToRetry,
// whatever the proxy answers and wherever it cuts connections.
func TestToolsRunAtMostOnce(t *testing.T) {
	for i, way := range []int{0, 1, 4} {
		t.Run(string(ways[way].version), func(t *testing.T) {
			t.Parallel()
			u := newUnfair(t, uint64(way))
			c, err := mcpclient.Connect(t.Context(), &transport.HTTP{URL: u.site.URL, Mode: ways[way].mode}, &mcpclient.Options{
				Versions: []mcp.Version{ways[way].version},
				Backoff:  mcpclient.Backoff{Min: time.Millisecond, Max: 10 * time.Millisecond},
			})
			if err != nil {
				t.Fatal(err)
			}
			var all tally
			callers(32, *exactlyOnceCalls/3, func(n int) { u.call(t, c, &all, n) })
			if err := c.Close(); err != nil {
				t.Errorf("stop: %v", err)
			}
			for n := range *exactlyOnceCalls / 3 {
				if times := u.ledger.times(n); times > 1 && n%4 != 0 {
					t.Errorf("call %d: its tool has run %d times", n, times)
				}
			}
			u.mu.Lock() // handlers may still run after their callers have left
			met := slices.Sorted(maps.Keys(u.met))
			u.mu.Unlock()
			t.Logf("%d: %d answered, %d safe to retry, %d unknown, %d repeats by the user; %d of %d fates met", i,
				all.answered.Load(), all.safe.Load(), all.unknown.Load(), all.repeated.Load(), len(met), len(fates))
			if len(met) < len(fates) && *exactlyOnceCalls >= 2000 {
				t.Errorf("the calls met only the fates %v", met)
			}
		})
	}
}

// callers calls f with each number below n. The parameter at is the maximum number of concurrent calls.
func callers(at, n int, f func(int)) {
	var next atomic.Int64
	var all sync.WaitGroup
	for range at {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				f(i)
			}
		})
	}
	all.Wait()
}

// call makes one call like a careful user, and repeats it as long as that is safe.
func (u *unfair) call(t *testing.T, c *mcpclient.Client, all *tally, n int) {
	tool, options := "write", []mcpclient.CallOption{mcpclient.WaitForReady()}
	switch n % 4 {
	case 0:
		tool = "read"
		if _, err := c.ListTools(t.Context(), nil, options...); err != nil && !strings.Contains(err.Error(), "lost") {
			t.Logf("list: %v", err)
		}
	case 1: // makes the connection's goroutine read the answer
		options = append(options, mcpclient.WithProgress(func(*mcp.ProgressParams) {}))
	}
	for try := 0; ; try++ {
		before := u.ledger.times(n)
		_, err := c.CallTool(t.Context(), tool, entry{n}, options...)
		ran := u.ledger.times(n)
		switch {
		case err == nil:
			all.answered.Add(1)
			if ran == 0 {
				t.Errorf("call %d was answered, but the tool has not run", n)
			}
			return
		case !mcpclient.SafeToRetry(err):
			all.unknown.Add(1)
			return
		case ran > before:
			t.Errorf("call %d: %v, safe to retry, but the tool has run", n, err)
		}
		if try == 3 {
			all.safe.Add(1)
			return
		}
		all.repeated.Add(1)
	}
}
