package redisstore_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"os"
	"os/exec"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpserver"
	"github.com/mcpotel/mcpotel/mcpserver/redisstore"
)

// environmentServe is an environment variable that makes the test binary run a server instead of the tests. Its value
// is the JSON of a [served].
const environmentServe = "REDISSTORE_TEST_SERVE"

// served configures a server process.
type served struct {
	Redis, Prefix string
	Name          string        // name of the process
	Files         string        // directory of the resources of addLoad; empty means the tools of addTools
	Lease         time.Duration // lease of the process
	TaskLease     time.Duration
}

// lease is short, so that the servers detect a dead process soon.
const lease = time.Second

// serve runs a server process. The process prints its address, and serves until it is killed.
func serve(config string) {
	var o served
	if err := json.Unmarshal([]byte(config), &o); err != nil {
		panic(err)
	}
	c := redis.NewClient(&redis.Options{Addr: o.Redis})
	store := redisstore.New(c, &redisstore.Options{Prefix: o.Prefix})
	s := mcpserver.New(mcp.Implementation{Name: "server", Version: "1"}, &mcpserver.Options{
		Telemetry: telemetry.Off(), StateKeys: [][]byte{bytes.Repeat([]byte{7}, 32)},
		Tasks: &mcpserver.TaskOptions{Store: store.Tasks(), Lease: o.TaskLease, PollInterval: 100 * time.Millisecond},
	})
	if o.Files == "" {
		addTools(s, c, o.Prefix, o.Name)
	} else {
		addLoad(s, o.Name, o.Files)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println(l.Addr())
	h := s.HTTPHandler(&mcpserver.HTTPOptions{
		Sessions: store.Sessions(), Events: store.Events(), Lease: o.Lease, AllowedHosts: []string{"*"},
		Retry: 10 * time.Millisecond,
	})
	panic(http.Serve(l, h))
}

type empty struct{}

type step struct {
	Name string `json:"name"`
}

// addTools adds tools that a test controls through lists in Redis.
func addTools(s *mcpserver.Server, c *redis.Client, prefix, name string) {
	add := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	// who returns the name of the process.
	add(mcpserver.AddTool(s, &mcp.Tool{Name: "who"}, func(context.Context, empty) (string, error) { return name, nil }))
	// change changes the list of tools in this process.
	add(mcpserver.AddTool(s, &mcp.Tool{Name: "change"}, func(context.Context, empty) (string, error) {
		return name, mcpserver.AddTool(s, &mcp.Tool{Name: "added"}, func(context.Context, empty) (string, error) {
			return "", nil
		})
	}))
	// ask asks the client, and returns the name of the process that has asked.
	add(mcpserver.AddTool(s, &mcp.Tool{Name: "ask"}, func(ctx context.Context, _ empty) (string, error) {
		r, err := mcpserver.RequestFrom(ctx).Elicit(ctx,
			&mcp.ElicitParams{Message: "well?", RequestedSchema: json.RawMessage(`{"type":"object","properties":{}}`)})
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("%s asked by %s", r.Action, name), nil
	}))
	// task waits until a list has an element, and returns the name of the process.
	add(mcpserver.AddTool(s, &mcp.Tool{Name: "task"}, func(ctx context.Context, in step) (string, error) {
		c.RPush(context.Background(), prefix+in.Name+"-done", "begun by "+name)
		if _, err := c.BLPop(context.Background(), 0, prefix+in.Name).Result(); err != nil {
			return "", err
		}
		return "done by " + name, nil
	}, mcpserver.TaskTool()))
	// steps reports progress for each element of a list, up to the element that is marked as the last.
	add(mcpserver.AddTool(s, &mcp.Tool{Name: "steps"}, func(ctx context.Context, in step) (string, error) {
		steps, done := prefix+in.Name, prefix+in.Name+"-done"
		c.RPush(context.Background(), done, "begun by "+name)
		for n := 1.0; ; n++ {
			next := make(chan string, 1)
			go func() { // ends with the process at the latest
				if v, err := c.BLPop(context.Background(), 0, steps).Result(); err == nil {
					next <- v[1]
				}
			}()
			select {
			case <-ctx.Done():
				c.RPush(context.Background(), done, fmt.Sprint("ended: ", context.Cause(ctx)))
				return "", ctx.Err()
			case v := <-next:
				if v == "last" {
					return "done by " + name, nil
				}
				if err := mcpserver.RequestFrom(ctx).Progress(ctx, n, 0, v); err != nil {
					return "", err
				}
				c.RPush(context.Background(), done, v)
			}
		}
	}))
}

// fleet is a group of server processes behind one address.
type fleet struct {
	t      *testing.T
	redis  *redis.Client
	served served // configuration of all processes, except the name
	said   func(*proc, string)
	prefix string
	url    string

	mu    sync.Mutex
	procs []*proc // guarded by mu in tests that replace a process
	next  int     // guarded by mu
	// guarded by mu; returns the process for a request, or a negative number for the next process; may be nil
	route    func(*http.Request, []byte) int
	hold     map[string]chan struct{} // guarded by mu; by HTTP method; requests wait until the channel is closed
	cuts     map[*cuttable]struct{}   // guarded by mu; open responses
	sessions map[string]string        // guarded by mu; header X-Client, by session id
	seen     map[string]map[int]int   // guarded by mu; number of requests, by HTTP method and process
}

// proc is a server process.
type proc struct {
	name   string
	cmd    *exec.Cmd
	host   string
	dead   chan struct{} // closed when the process is dead
	killed atomic.Pointer[time.Time]
}

// kill ends the process immediately, as in a crash of its machine.
func (p *proc) kill() {
	p.killed.CompareAndSwap(nil, new(time.Now()))
	p.cmd.Process.Kill()
	<-p.dead
}

// launch starts n processes and a proxy that distributes requests among them in turn.
func launch(t *testing.T, n int) *fleet {
	t.Helper()
	c := redis.NewClient(&redis.Options{Addr: address})
	t.Cleanup(func() { c.Close() })
	f := launchServed(t, n, served{Redis: address, Prefix: t.Name() + ":", Lease: lease, TaskLease: lease},
		func(*proc, string) {})
	f.redis = c
	return f
}

// launchServed is launch with a configuration. It calls said for each line that a process prints.
func launchServed(t *testing.T, n int, o served, said func(*proc, string)) *fleet {
	t.Helper()
	f := &fleet{
		t: t, served: o, said: said, prefix: o.Prefix,
		hold: map[string]chan struct{}{}, cuts: map[*cuttable]struct{}{}, sessions: map[string]string{},
		seen: map[string]map[int]int{},
	}
	for i := range n {
		f.procs = append(f.procs, f.start(string(rune('A'+i))))
	}
	proxy := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.Out.URL.Scheme = "http" },
		Transport:     f,
		FlushInterval: -1,
		ErrorLog:      log.New(io.Discard, "", 0), // errors of responses that the test has cut
		ErrorHandler:  func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}
	srv := httptest.NewServer(proxy)
	t.Cleanup(func() {
		f.cut()
		srv.Close()
	})
	f.url = srv.URL + "/mcp"
	return f
}

func (f *fleet) start(name string) *proc {
	f.t.Helper()
	self, err := os.Executable()
	if err != nil {
		f.t.Fatal(err)
	}
	o := f.served
	o.Name = name
	config, err := json.Marshal(o)
	if err != nil {
		f.t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), environmentServe+"="+string(config), "GORACE=halt_on_error=1 atexit_sleep_ms=0")
	cmd.Stderr = os.Stderr
	diesWithParent(cmd)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		f.t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	lines.Scan()
	err = lines.Err()
	p := &proc{name: name, cmd: cmd, host: lines.Text(), dead: make(chan struct{})}
	go func() { // ends with the process
		for lines.Scan() {
			f.said(p, lines.Text())
		}
		cmd.Wait()
		close(p.dead)
	}()
	f.t.Cleanup(p.kill)
	if p.host == "" {
		f.t.Fatalf("process %s does not print its address: %v", name, err)
	}
	return p
}

// to sets the function that selects the process for each request.
func (f *fleet) to(route func(r *http.Request, body []byte) int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.route = route
}

// only routes all requests to process i.
func only(i int) func(*http.Request, []byte) int {
	return func(*http.Request, []byte) int { return i }
}

// held delays requests with an HTTP method until the test calls release.
func (f *fleet) held(method string) (release func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	gate := make(chan struct{})
	f.hold[method] = gate
	return func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if f.hold[method] == gate {
			delete(f.hold, method)
			close(gate)
		}
	}
}

// RoundTrip sends a request to a process. If the process is unreachable, RoundTrip sends the request to another
// process.
func (f *fleet) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
	}
	f.mu.Lock()
	gate := f.hold[r.Method]
	f.mu.Unlock()
	if gate != nil {
		select {
		case <-gate:
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	}
	first, procs := f.choose(r, body)
	for try := range procs {
		i := (first + try) % len(procs)
		r.URL.Host, r.Body = procs[i].host, io.NopCloser(bytes.NewReader(body))
		resp, err := http.DefaultTransport.RoundTrip(r)
		if dial, ok := errors.AsType[*net.OpError](err); ok && dial.Op == "dial" {
			continue
		}
		if err != nil {
			return nil, err
		}
		return f.note(r, resp, i), nil
	}
	return nil, errors.New("no process is there")
}

// choose returns the number of the process for a request, and all processes.
func (f *fleet) choose(r *http.Request, body []byte) (int, []*proc) {
	f.mu.Lock()
	defer f.mu.Unlock()
	procs := slices.Clone(f.procs)
	if f.route != nil {
		if i := f.route(r, body); i >= 0 {
			return i, procs
		}
	}
	f.next++
	return f.next % len(procs), procs
}

// note records a response for the checks of the test.
func (f *fleet) note(r *http.Request, resp *http.Response, i int) *http.Response {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.seen[r.Method] == nil {
		f.seen[r.Method] = map[int]int{}
	}
	f.seen[r.Method][i]++
	if id := resp.Header.Get("Mcp-Session-Id"); id != "" {
		f.sessions[id] = r.Header.Get("X-Client")
	}
	c := &cuttable{ReadCloser: resp.Body}
	c.forget = func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.cuts, c)
	}
	f.cuts[c] = struct{}{}
	resp.Body = c
	return resp
}

// got returns the number of requests with an HTTP method that a process has answered.
func (f *fleet) got(method string, i int) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.seen[method][i]
}

// cut cuts all open responses.
func (f *fleet) cut() {
	f.mu.Lock()
	var all []*cuttable
	for c := range f.cuts {
		all = append(all, c)
	}
	f.mu.Unlock()
	for _, c := range all {
		c.ReadCloser.Close()
	}
}

// cuttable is the body of a response. cut can interrupt it.
type cuttable struct {
	io.ReadCloser
	forget func()
}

func (c *cuttable) Close() error {
	c.forget()
	return c.ReadCloser.Close()
}

// connect connects a client of a legacy revision.
func (f *fleet) connect(features ...mcpclient.Feature) *mcpclient.Client {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(f.t.Context(), patience)
	defer cancel()
	c, err := mcpclient.Connect(ctx, &transport.HTTP{URL: f.url}, &mcpclient.Options{
		Versions: []mcp.Version{mcp.Version20251125}, Features: features, Telemetry: telemetry.Off(),
		RequestTimeout: patience,
	})
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() {
		if err := c.Close(); err != nil {
			f.t.Errorf("stop: %v", err)
		}
	})
	return c
}

// patience bounds each wait.
const patience = 30 * time.Second

// step sends the next step to the tool named steps.
func (f *fleet) step(name, what string) {
	f.t.Helper()
	if err := f.redis.RPush(f.t.Context(), f.prefix+name, what).Err(); err != nil {
		f.t.Fatal(err)
	}
}

// did waits until the tool reports a step.
func (f *fleet) did(name, want string) {
	f.t.Helper()
	v, err := f.redis.BLPop(f.t.Context(), patience, f.prefix+name+"-done").Result()
	if err != nil || v[1] != want {
		f.t.Fatalf("want the tool to report %q, got %q, %v", want, v, err)
	}
}
