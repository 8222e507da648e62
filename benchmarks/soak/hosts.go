package soak

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"regexp"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// job describes the work of the hosts.
type job struct {
	Ends  []end
	Calls int
	For   time.Duration
}

// said is a report of the hosts: the number of finished calls, and at the end all results.
type said struct {
	Made     int
	Outcomes map[string]int `json:",omitempty"`
	Sessions map[string]int `json:",omitempty"`
	OK       *set           `json:",omitempty"` // numbers of the calls that have succeeded
}

const (
	callers   = 8        // of each host
	maxText   = 64 << 10 // maximum of bytes that a call requests
	cancelled = 200      // one call in this many is cancelled within givenUp
	givenUp   = time.Second / 100
	timeout   = 10 * time.Second // of a call at the host; longer than the timeout of the proxy's policy
)

// hosts is the process of the hosts, as seen by the process of the proxies.
type hosts struct {
	*child
	calls atomic.Int64 // number of finished calls
	done  chan struct{}
	last  said  // last report; written only by listen until done is closed
	err   error // error of listen; written only by listen until done is closed
}

// made returns the number of finished calls.
func (h *hosts) made() int { return int(h.calls.Load()) }

// listen reads the reports of the hosts.
func (h *hosts) listen() {
	defer close(h.done)
	for d := json.NewDecoder(h.out); ; {
		var s said
		if err := d.Decode(&s); err != nil {
			if h.last.OK == nil {
				h.err = fmt.Errorf("the hosts have not finished: %w", err)
			}
			return
		}
		h.last = s
		h.calls.Store(int64(s.Made))
	}
}

// wait waits for the end of the hosts.
func (h *hosts) wait() (said, error) {
	<-h.done
	return h.last, errors.Join(h.err, h.cmd.Wait())
}

// run is the work of the hosts in their own process.
type run struct {
	job
	next atomic.Int64

	mu       sync.Mutex
	made     int            // guarded by mu
	outcomes map[string]int // guarded by mu
	ok       *set           // guarded by mu
}

// playHosts reads a job from in and does it.
func playHosts(in io.Reader, out io.Writer) error {
	var j job
	if err := json.NewDecoder(in).Decode(&j); err != nil {
		return err
	}
	r := &run{job: j, outcomes: map[string]int{}, ok: newSet(j.Calls)}
	clients, err := r.connect()
	if err != nil {
		return err
	}
	w := bufio.NewWriter(out)
	e := json.NewEncoder(w)
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		r.makeCalls(clients)
	}()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for over := false; !over; {
		select {
		case <-tick.C:
		case <-finished:
			over = true
		}
		r.mu.Lock()
		s := said{Made: r.made}
		r.mu.Unlock()
		if over {
			s.Outcomes, s.OK, s.Sessions = r.outcomes, r.ok, sessions(clients)
		}
		if err := errors.Join(e.Encode(s), w.Flush()); err != nil {
			return err
		}
	}
	for _, c := range clients {
		err = errors.Join(err, c.Close())
	}
	return err
}

// connect connects a client of each era to each end, over a stream and over HTTP.
func (r *run) connect() (clients []*mcpclient.Client, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for _, e := range r.Ends {
		stream := transport.StreamsFrom(transport.Network{Transport: "tcp"},
			func(ctx context.Context) (io.ReadWriteCloser, error) {
				return new(net.Dialer).DialContext(ctx, "tcp", e.Stream)
			})
		for way, t := range map[string]transport.Transport{"stream": stream, "http": &transport.HTTP{URL: e.URL}} {
			for _, v := range []mcp.Version{mcp.Version20251125, mcp.Version20260728} {
				c, err := mcpclient.Connect(ctx, t, &mcpclient.Options{
					Name: fmt.Sprint(way, " ", v, " to ", e.Name), Versions: []mcp.Version{v},
					RequestTimeout: timeout, Telemetry: telemetry.New(),
				})
				if err != nil {
					return nil, err
				}
				clients = append(clients, c)
			}
		}
	}
	return clients, nil
}

// sessions returns how often each client has become ready.
func sessions(clients []*mcpclient.Client) map[string]int {
	all := map[string]int{}
	for _, c := range clients {
		s := c.Inspect()
		all[s.Name] = int(s.Sessions)
	}
	return all
}

// makeCalls makes all calls, by several callers of each client.
func (r *run) makeCalls(clients []*mcpclient.Client) {
	var all sync.WaitGroup
	begun := time.Now()
	for _, c := range clients {
		for range callers {
			all.Go(func() {
				for n := int(r.next.Add(1)) - 1; n < r.Calls; n = int(r.next.Add(1)) - 1 {
					time.Sleep(time.Until(begun.Add(time.Duration(float64(r.For) * float64(n) / float64(r.Calls)))))
					r.note(n, r.call(c, n))
				}
			})
		}
	}
	all.Wait()
}

// numbers matches process ids and ports in error texts, which would make each text unique.
var numbers = regexp.MustCompile(`[0-9]+(\.[0-9]+)*`)

// call makes a call and returns its outcome.
func (r *run) call(c *mcpclient.Client, number int) string {
	ctx := context.Background()
	if rand.N(cancelled) == 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, rand.N(givenUp))
		defer cancel()
	}
	in := noted{Number: number, Bytes: int(float64(maxText) * rand.Float64() * rand.Float64() * rand.Float64())}
	out, err := mcpclient.CallToolAs[answered](ctx, c, tool, in)
	var failed *mcpclient.Error
	switch {
	case err == nil && out.Number == number && len(out.Text) == in.Bytes:
		return OK
	case err == nil:
		return "another call's answer"
	case ctx.Err() != nil:
		return "given up by the host"
	case errors.As(err, &failed) && failed.Server != nil:
		return fmt.Sprintf("error %d: %.60s", failed.Server.Code, numbers.ReplaceAllString(failed.Server.Message, "N"))
	case failed != nil:
		return string(failed.Kind)
	}
	return fmt.Sprintf("%T", err)
}

// note records the outcome of a call.
func (r *run) note(number int, outcome string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.made++
	r.outcomes[outcome]++
	if outcome == OK {
		r.ok.add(number)
	}
}
