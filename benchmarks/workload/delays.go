package workload

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync/atomic"
	"testing"
	"time"
)

// Delays benchmarks small answers behind a large answer on a pipe: while 50 calls wait, the large answer arrives
// completely, and the small answers follow at once. An op is one round. It reports the medians over all rounds. p50-ns
// is the time from the client's read of the last byte of the large answer until a call with a small answer returns.
// large-p50-ns is the same for the call with the large answer.
func Delays(b *testing.B, peers ...Peer) {
	for _, s := range []Shape{Text, Items} {
		for _, size := range []int{MiB, Limit} {
			for _, p := range peers {
				if p.Pipe != nil {
					b.Run(fmt.Sprintf("transport=pipe/era=%s/shape=%s/size=%s/callers=%d/peer=%s", Modern, s, SizeName(size), behind,
						p.Name),
						func(b *testing.B) { delay(b, p, Canned{Modern, s, size}) })
				}
			}
		}
	}
}

// behind is the number of small answers behind a large answer.
const behind = 50

// queue is a server that writes its answers on command.
type queue struct {
	large, small *responder
	in           *bufio.Reader
	out          io.Writer
	sent         int64         // bytes
	asked        chan struct{} // closed when the large answer is requested
	arrivals     *arrivals     // the client's end of out
}

// arrivals is the client's end of a pipe. It sends the time at which the client has read mark bytes in all.
type arrivals struct {
	io.ReadCloser
	read  int64
	mark  atomic.Int64 // 0 if no time is to be sent
	there chan time.Time
}

func (a *arrivals) Read(p []byte) (int, error) {
	n, err := a.ReadCloser.Read(p)
	a.read += int64(n)
	if mark := a.mark.Load(); mark > 0 && a.read >= mark {
		a.mark.Store(0)
		a.there <- time.Now()
	}
	return n, err
}

// serve performs the handshake. When all other requests have arrived, it answers the first request with the large
// answer. It ends with the stream.
func (q *queue) serve() error {
	var requests [][]byte
	for {
		request, err := q.in.ReadSlice('\n')
		if err != nil {
			return nil
		}
		id, method := peek(request)
		switch {
		case id == nil:
			continue
		case string(method) != "tools/call":
			if err := q.write(q.small.answer(request)); err != nil {
				return err
			}
			continue
		}
		requests = append(requests, slices.Clone(request))
		if len(requests) == 1 {
			q.asked <- struct{}{}
		}
		if len(requests) == 1+behind {
			if err := q.answer(requests); err != nil {
				return err
			}
			requests = requests[:0]
		}
	}
}

func (q *queue) answer(requests [][]byte) error {
	large := q.large.answer(requests[0])
	q.arrivals.mark.Store(q.sent + int64(len(large)))
	if err := q.write(large); err != nil {
		return err
	}
	var small []byte
	for _, r := range requests[1:] {
		small = append(small, q.small.answer(r)...)
	}
	return q.write(small)
}

func (q *queue) write(b []byte) error {
	q.sent += int64(len(b))
	_, err := q.out.Write(b)
	return err
}

func delay(b *testing.B, p Peer, c Canned) {
	q, client, stop, err := newQueue(p, c)
	if err != nil {
		b.Fatal(err)
	}
	want, _ := c.sizes()
	var small, large []time.Duration
	for b.Loop() {
		l, s, err := q.round(client, p, want)
		if err != nil {
			b.Fatal(err)
		}
		large, small = append(large, l), append(small, s...)
	}
	b.ReportMetric(float64(median(small)), "p50-ns")
	b.ReportMetric(float64(median(large)), "large-p50-ns")
	if err := stop(); err != nil {
		b.Error(err)
	}
}

// newQueue starts a server and connects a peer to it.
func newQueue(p Peer, c Canned) (q *queue, client Client, stop func() error, err error) {
	in, w, r, out, err := Pipes()
	if err != nil {
		return nil, nil, nil, err
	}
	q = &queue{
		large: newResponder(c), small: newResponder(Canned{c.Era, Text, Tiny}), in: bufio.NewReaderSize(in, 64<<10), out: out,
		asked: make(chan struct{}, 1), arrivals: &arrivals{ReadCloser: r, there: make(chan time.Time, 1)},
	}
	done := make(chan error, 1)
	go func() { done <- q.serve() }() // ends when the client has closed its pipe
	client, err = p.Pipe(WithEra(WithCallers(context.Background(), 1+behind), c.Era), q.arrivals, w)
	return q, client, func() error {
		err := client.Close()
		closeAll(w, r)
		err = errors.Join(err, <-done)
		closeAll(in, out)
		return err
	}, err
}

func closeAll(files ...*os.File) {
	for _, f := range files {
		_ = f.Close()
	}
}

type outcome struct {
	large bool
	n     int
	at    time.Time
	err   error
}

// round makes the large call, and the other calls while it is in flight.
func (q *queue) round(client Client, p Peer, want Payload) (large time.Duration, small []time.Duration, err error) {
	outcomes := make(chan outcome, 1+behind)
	call := func(large bool) {
		n, err := client.Call(context.Background(), TinyTool)
		outcomes <- outcome{large, n, time.Now(), err}
	}
	go call(true)
	<-q.asked
	for range behind {
		go call(false)
	}
	var all []outcome
	for range 1 + behind {
		o := <-outcomes
		if o.err != nil {
			return 0, nil, o.err
		}
		all = append(all, o)
	}
	there := <-q.arrivals.there
	for _, o := range all {
		if o.large {
			large = o.at.Sub(there)
			if err := p.check(want, o.n, nil); err != nil {
				return 0, nil, err
			}
			continue
		}
		small = append(small, o.at.Sub(there))
	}
	return large, small, nil
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}
