package peers_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/mcpotel/mcpotel/benchmarks/peers"
	"github.com/mcpotel/mcpotel/benchmarks/workload"
)

// TestEveryPeerGetsTheRightAnswers checks the peers against the canned servers of the benchmarks.
func TestEveryPeerGetsTheRightAnswers(t *testing.T) {
	for _, p := range []workload.Peer{peers.GoSDK, peers.MCPGo} {
		for _, tr := range workload.Transports {
			for _, e := range workload.Eras {
				for _, shape := range workload.Shapes {
					for _, size := range []int{workload.KiB, 200 * workload.KiB} {
						c := workload.Canned{Era: e, Shape: shape, Size: size}
						t.Run(fmt.Sprintf("%s/%s/%s", p.Name, tr, c), func(t *testing.T) { rightCalls(t, p, tr, c, 1) })
					}
				}
				c := workload.Canned{Era: e, Shape: workload.Text, Size: workload.Tiny}
				t.Run(fmt.Sprintf("%s/%s/%s/callers", p.Name, tr, c), func(t *testing.T) { rightCalls(t, p, tr, c, 64) })
				t.Run(fmt.Sprintf("%s/%s/%s/tools", p.Name, tr, e), func(t *testing.T) { rightPage(t, p, tr, e) })
			}
		}
	}
}

// TestEveryPeerAcceptsTheLargestResult checks that all sizes of the benchmarks are within the limits of the peers.
func TestEveryPeerAcceptsTheLargestResult(t *testing.T) {
	for _, p := range []workload.Peer{peers.GoSDK, peers.MCPGo} {
		for _, tr := range workload.Transports {
			c := workload.Canned{Era: workload.Modern, Shape: workload.Text, Size: workload.Limit}
			t.Run(fmt.Sprintf("%s/%s", p.Name, tr), func(t *testing.T) { rightCalls(t, p, tr, c, 1) })
		}
	}
}

// TestEveryPeerUsesTheUsersHTTPClient checks that the requests of calls go through the client that otelhttp observes.
func TestEveryPeerUsesTheUsersHTTPClient(t *testing.T) {
	for _, p := range []workload.Peer{workload.Ours, peers.GoSDK, peers.MCPGo} {
		for _, e := range workload.Eras {
			t.Run(fmt.Sprintf("%s/%s", p.Name, e), func(t *testing.T) {
				ctx, end, err := peers.OTelHTTP.With(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				defer end()
				counted := &counter{next: workload.HTTPClientOf(ctx).Transport}
				ctx = workload.WithHTTPClient(ctx, &http.Client{Transport: counted})
				client, err := p.Connect(ctx, workload.HTTPJSON, workload.Canned{Era: e, Shape: workload.Text, Size: workload.KiB})
				if err != nil {
					t.Fatal(err)
				}
				before := counted.requests.Load()
				if _, err := client.Call(context.Background(), workload.TinyTool); err != nil {
					t.Error(err)
				}
				if n := counted.requests.Load() - before; n < 1 {
					t.Errorf("want the request of a call to go through the client, got %d", n)
				}
				if err := client.Close(); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

type counter struct {
	next     http.RoundTripper
	requests atomic.Int64
}

func (c *counter) RoundTrip(r *http.Request) (*http.Response, error) {
	c.requests.Add(1)
	return c.next.RoundTrip(r)
}

func rightCalls(t *testing.T, p workload.Peer, tr workload.Transport, c workload.Canned, callers int) {
	client := connect(t, p, tr, c, callers)
	want := workload.NewPayload(c.Era, c.Shape, c.Size)
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			for range 2 {
				if n, err := client.Call(context.Background(), workload.TinyTool); err != nil || n != want.Content {
					t.Errorf("want %d bytes of content, got %d, %v", want.Content, n, err)
				}
			}
		})
	}
	wg.Wait()
}

func rightPage(t *testing.T, p workload.Peer, tr workload.Transport, e workload.Era) {
	const tools = 300
	client := connect(t, p, tr, workload.Canned{Era: e, Shape: workload.Tools, Size: tools}, 1)
	for range 2 {
		if n, err := client.List(context.Background()); err != nil || n != tools {
			t.Errorf("want %d tools, got %d, %v", tools, n, err)
		}
	}
}

func connect(t *testing.T, p workload.Peer, tr workload.Transport, c workload.Canned, callers int) workload.Client {
	t.Helper()
	client, err := p.Connect(workload.WithCallers(t.Context(), callers), tr, c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return client
}

// TestEveryServerGivesTheRightAnswers checks the servers with this project's client, which validates all answers. The
// benchmarks check one more answer.
func TestEveryServerGivesTheRightAnswers(t *testing.T) {
	for _, s := range []workload.Server{peers.GoSDKServer, peers.MCPGoServer} {
		for _, e := range workload.Eras {
			t.Run(fmt.Sprintf("%s/pipe/%s", s.Name, e), func(t *testing.T) { rightServer(t, pipeTo(t, s, e)) })
			t.Run(fmt.Sprintf("%s/http/%s", s.Name, e), func(t *testing.T) { rightServer(t, webTo(t, s.HTTP(), e)) })
		}
	}
}

func rightServer(t *testing.T, c workload.Client) {
	for _, tool := range []string{workload.TinyTool, workload.EchoTool} {
		for range 2 {
			if n, err := c.Call(context.Background(), tool); err != nil || n != len(workload.HelloText) {
				t.Errorf("%s: want %d bytes of content, got %d, %v", tool, len(workload.HelloText), n, err)
			}
		}
	}
	if n, err := c.List(context.Background()); err != nil || n != 2 {
		t.Errorf("want two tools, got %d, %v", n, err)
	}
}

func pipeTo(t *testing.T, s workload.Server, e workload.Era) workload.Client {
	t.Helper()
	toServer, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r, fromServer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- s.Pipe(context.Background(), toServer, fromServer) }() // ends when the client closes w
	c, err := peerOf(e).Pipe(workload.WithEra(t.Context(), e), r, w)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		if err := <-done; err != nil {
			t.Errorf("server: %v", err)
		}
	})
	return c
}

func webTo(t *testing.T, h http.Handler, e workload.Era) workload.Client {
	t.Helper()
	url, stop, err := workload.Listen(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r)
		if kind := w.Header().Get("Content-Type"); r.Method == http.MethodPost && strings.Contains(kind, "event-stream") {
			t.Errorf("want answers in JSON, got %s", kind)
		}
	}))
	if err != nil {
		t.Fatal(err)
	}
	c, err := peerOf(e).HTTP(workload.WithEra(t.Context(), e), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		stop()
	})
	return c
}

// peerOf returns a peer that certainly uses a revision: ours negotiates the newest revision of the server; floorjson
// uses the revision that the test gives it.
func peerOf(e workload.Era) workload.Peer {
	if e == workload.Modern {
		return workload.Ours
	}
	return workload.FloorJSON
}
