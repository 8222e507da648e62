package benchmarks

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"
	"testing"

	"github.com/mcpotel/mcpotel/benchmarks/workload"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

// burst is the number of notifications that arrive together. It is below the client's limit for waiting notifications.
const burst = 500

const logMethod = "notifications/message"

var logLine = []byte(`{"jsonrpc":"2.0","method":"` + logMethod +
	`","params":{"level":"info","logger":"indexer","data":{"message":"indexed a file",` +
	`"path":"internal/jsonscan/value.go","bytes":48213,"took":"12.5ms"}}}` + "\n")

// BenchmarkNotifyReceived measures the cost of a notification from the server until a handler has received it; the
// handler does not decode the params. The notifications arrive on a pipe in bursts of 500; the next burst is sent when
// all notifications of the previous burst are handled. The floor reads lines and counts them; floorjson decodes each
// line with encoding/json and finds the handler by the method. An op is one notification.
func BenchmarkNotifyReceived(b *testing.B) {
	name := fmt.Sprintf("transport=pipe/era=%s/size=%dB/peer=", workload.Modern, len(logLine)-1)
	b.Run(name+"floor", func(b *testing.B) { notify(b, floorListens) })
	b.Run(name+"floorjson", func(b *testing.B) { notify(b, jsonListens) })
	b.Run(name+"ours", func(b *testing.B) { notify(b, oursListens) })
}

// notify measures a client. listen starts the client, and calls heard for each notification.
func notify(b *testing.B, listen func(b *testing.B, r, w *os.File, heard func())) {
	in, w, r, out, err := workload.Pipes()
	if err != nil {
		b.Fatal(err)
	}
	done := make(chan struct{}, 1)
	left := 0 // remaining notifications of the burst; owned by the receiving goroutine
	heard := func() {
		if left--; left == 0 {
			done <- struct{}{}
		}
	}
	var server sync.WaitGroup
	server.Go(func() { // performs the handshake; ends when its pipe is closed
		_ = workload.Canned{Era: workload.Modern, Shape: workload.Text, Size: workload.Tiny}.Serve(in, out)
	})
	b.Cleanup(func() { // runs after the cleanup functions of listen
		_ = w.Close()
		server.Wait()
		_, _, _ = in.Close(), out.Close(), r.Close()
	})
	listen(b, r, w, heard)
	many := bytes.Repeat(logLine, burst)
	b.SetBytes(int64(len(logLine)))
	b.ReportAllocs()
	b.ResetTimer()
	cpu := workload.StartCPU()
	for n := b.N; n > 0; n -= burst {
		left = min(n, burst)
		if _, err := out.Write(many[:left*len(logLine)]); err != nil {
			b.Fatal(err)
		}
		<-done
	}
	cpu.Report(b)
	b.StopTimer()
}

func floorListens(b *testing.B, r, _ *os.File, heard func()) {
	reads(b, r, func(line []byte) { heard() })
}

func jsonListens(b *testing.B, r, _ *os.File, heard func()) {
	handlers := map[string]func(json.RawMessage){logMethod: func(json.RawMessage) { heard() }}
	reads(b, r, func(line []byte) {
		var m struct {
			Method string          `json:"method"`
			Params json.RawMessage `json:"params"`
		}
		if json.Unmarshal(line, &m) == nil {
			handlers[m.Method](m.Params)
		}
	})
}

// reads starts a goroutine that calls f with each line.
func reads(b *testing.B, r *os.File, f func(line []byte)) {
	var reader sync.WaitGroup
	reader.Go(func() { // ends when r is closed
		in := bufio.NewReaderSize(r, 64<<10)
		for {
			line, err := in.ReadSlice('\n')
			if err != nil {
				return
			}
			f(line)
		}
	})
	b.Cleanup(func() {
		_ = r.Close()
		reader.Wait()
	})
}

func oursListens(b *testing.B, r, w *os.File, heard func()) {
	c, err := mcpclient.Connect(b.Context(), workload.Streams(r, w), &mcpclient.Options{
		Telemetry: telemetry.New(),
		Features: []mcpclient.Feature{
			mcpclient.HandleNotification(logMethod, func(context.Context, *mcpclient.Notification) { heard() }),
		},
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := c.Close(); err != nil {
			b.Error(err)
		}
	})
}

type progress struct {
	Token    int     `json:"progressToken"`
	Progress float64 `json:"progress"`
	Total    float64 `json:"total"`
	Message  string  `json:"message"`
}

var someProgress = &progress{7, 0.5, 1, "half of it"}

const (
	progressMethod = "notifications/progress"
	progressLine   = `{"jsonrpc":"2.0","method":"` + progressMethod +
		`","params":{"progressToken":7,"progress":0.5,"total":1,"message":"half of it"}}` + "\n"
)

// BenchmarkNotifySent measures the cost of sending a notification, which has no answer, from a client. The floor writes
// an encoded notification; floorjson encodes it with encoding/json. Peer ours has a bounded queue, and a notification
// fails at once if the queue is full: the benchmark then tries again.
func BenchmarkNotifySent(b *testing.B) {
	name := fmt.Sprintf("transport=pipe/era=%s/size=%dB/peer=", workload.Legacy, len(progressLine)-1)
	b.Run(name+"floor", func(b *testing.B) {
		_, w := canned(b)
		sends(b, func() error {
			_, err := io.WriteString(w, progressLine)
			return err
		})
	})
	b.Run(name+"floorjson", func(b *testing.B) {
		_, w := canned(b)
		sends(b, func() error {
			line, err := json.Marshal(&struct {
				JSONRPC string    `json:"jsonrpc"`
				Method  string    `json:"method"`
				Params  *progress `json:"params"`
			}{"2.0", progressMethod, someProgress})
			if err == nil {
				_, err = w.Write(append(line, '\n'))
			}
			return err
		})
	})
	b.Run(name+"ours", func(b *testing.B) {
		r, w := canned(b)
		c, err := mcpclient.Connect(b.Context(), workload.Streams(r, w), &mcpclient.Options{Telemetry: telemetry.New()})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() {
			if err := c.Close(); err != nil {
				b.Error(err)
			}
		})
		sends(b, func() error {
			err := c.Notify(b.Context(), progressMethod, someProgress)
			for errors.Is(err, mcpclient.ErrBackpressure) {
				runtime.Gosched()
				err = c.Notify(b.Context(), progressMethod, someProgress)
			}
			return err
		})
	})
}

// canned returns the client's ends of the pipes to a canned server.
func canned(b *testing.B) (r, w *os.File) {
	r, w, wait, err := workload.Canned{Era: workload.Legacy, Shape: workload.Text, Size: workload.Tiny}.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = w.Close()
		wait()
		_ = r.Close()
	})
	return r, w
}

func sends(b *testing.B, f func() error) { each(b, len(progressLine)-1, f) }
