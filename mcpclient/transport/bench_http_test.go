package transport_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/internal/testsupport/cputime"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// BenchmarkHTTP makes a request and gets its answer. peer=floor is net/http alone: http.Client.Do, io.ReadAll and one
// pass of encoding/json; peer=http is the transport. Client and server share the process, so time and allocations
// include both.
func BenchmarkHTTP(b *testing.B) {
	for _, size := range []int{200, 10_000, 1 << 20, 16<<20 - 200} {
		for _, form := range []string{"json", "sse"} {
			for _, callers := range []int{1, 64} {
				if callers > 1 && size > 200 {
					continue
				}
				name := fmt.Sprintf("size=%d/form=%s/callers=%d/peer=", size, form, callers)
				url := serve(b, answerOfSize(size, form))
				b.Run(name+"floor", func(b *testing.B) { measure(b, size, callers, floorCaller(b, url, form)) })
				b.Run(name+"http", func(b *testing.B) { measure(b, size, callers, httpCaller(b, url)) })
			}
		}
	}
}

// BenchmarkHTTPRatio makes tiny calls alternately with and without the transport, and reports the ratio of their CPU
// times. The ratio is the median over many turns, which other load hardly affects.
func BenchmarkHTTPRatio(b *testing.B) {
	const size, turn = 200, 500
	for _, form := range []string{"json", "sse"} {
		for _, callers := range []int{1, 64} {
			b.Run(fmt.Sprintf("form=%s/callers=%d", form, callers), func(b *testing.B) {
				url := serve(b, answerOfSize(size, form))
				floor, ours := floorCaller(b, url, form), httpCaller(b, url)
				var ratios []float64
				var id int64
				spent := func(one func(id int64) error) time.Duration {
					start := cputime.Used()
					var wg sync.WaitGroup
					for range callers {
						first := id
						id += turn
						wg.Go(func() {
							for i := range int64(turn / callers) {
								if err := one(first + i + 1); err != nil {
									b.Error(err)
									return
								}
							}
						})
					}
					wg.Wait()
					return cputime.Used() - start
				}
				for b.Loop() {
					less := spent(floor)
					ratios = append(ratios, float64(spent(ours))/float64(less))
				}
				slices.Sort(ratios)
				b.ReportMetric(ratios[len(ratios)/2], "x-floor")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// answerOfSize returns a handler that answers with about size bytes.
func answerOfSize(size int, form string) http.HandlerFunc {
	text := strings.Repeat("x", max(0, size-60))
	return func(w http.ResponseWriter, r *http.Request) {
		m := readSent(r)
		body := make([]byte, 0, size+100)
		if form == "sse" {
			body = append(body, "event: message\ndata: "...)
		}
		body = append(body, `{"jsonrpc":"2.0","id":`...)
		body = strconv.AppendInt(body, m.ID, 10)
		body = append(body, `,"result":{"text":"`...)
		body = append(body, text...)
		body = append(body, `"}}`...)
		if form == "sse" {
			w.Header().Set("Content-Type", "text/event-stream")
			body = append(body, "\n\n"...)
		} else {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		}
		_, _ = w.Write(body)
	}
}

// floorCaller returns a function that makes a call with net/http alone.
func floorCaller(b testing.TB, url, form string) func(id int64) error {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 100}}
	b.Cleanup(client.CloseIdleConnections)
	return func(id int64) error {
		req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, url, bytes.NewReader(call(id).Data))
		if err != nil {
			return err
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		req.Header.Set("Mcp-Protocol-Version", "2025-11-25")
		resp, err := client.Do(req)
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		data, err := io.ReadAll(resp.Body)
		if err != nil {
			return err
		}
		if form == "sse" {
			data = bytes.TrimPrefix(data, []byte("event: message\ndata: "))
		}
		return checkAnswer(data, id)
	}
}

func checkAnswer(data []byte, id int64) error {
	var answer struct {
		ID     int64           `json:"id"`
		Result json.RawMessage `json:"result"`
	}
	if err := json.Unmarshal(data, &answer); err != nil || answer.ID != id {
		return fmt.Errorf("answer %d: %w", answer.ID, err)
	}
	return nil
}

// httpCaller returns a function that makes a call with the transport. As in a client, one goroutine receives the
// answers of all callers.
func httpCaller(b testing.TB, url string) func(id int64) error {
	conn := dialHTTP(b, &transport.HTTP{URL: url}, transport.Config{})
	var mu sync.Mutex
	waiting := make(map[int64]chan transport.Frame)
	go func() {
		for {
			f, err := conn.Receive(context.Background())
			if err != nil {
				return
			}
			mu.Lock()
			ch := waiting[f.Request]
			delete(waiting, f.Request)
			mu.Unlock()
			ch <- f
		}
	}()
	channels := sync.Pool{New: func() any { return make(chan transport.Frame, 1) }}
	return func(id int64) error {
		ch := channels.Get().(chan transport.Frame)
		defer channels.Put(ch)
		mu.Lock()
		waiting[id] = ch
		mu.Unlock()
		if err := conn.Send(context.Background(), call(id)); err != nil {
			return err
		}
		f := <-ch
		if f.Err != nil {
			return f.Err
		}
		return checkAnswer(f.Data, id)
	}
}

// measure reports the CPU time of the process in addition to the elapsed time.
func measure(b *testing.B, size, callers int, one func(id int64) error) {
	b.ReportAllocs()
	b.SetBytes(int64(size))
	runtime.GC()
	var ids struct {
		sync.Mutex
		last int64
	}
	next := func() int64 {
		ids.Lock()
		defer ids.Unlock()
		ids.last++
		return ids.last
	}
	start := cputime.Used()
	if callers == 1 {
		for b.Loop() {
			if err := one(next()); err != nil {
				b.Fatal(err)
			}
		}
	} else {
		b.SetParallelism(callers / runtime.GOMAXPROCS(0))
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if err := one(next()); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	b.ReportMetric(float64((cputime.Used()-start).Nanoseconds())/float64(b.N), "cpu-ns/op")
}
