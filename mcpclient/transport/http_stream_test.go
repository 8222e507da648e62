package transport_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

const note = `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`

// get is a GET request that a server has received.
type get struct {
	at      time.Duration // time since the test began
	last    string        // Last-Event-ID
	session string
}

// listener serves the GET requests of a bubble: each with the next script, and all further ones with the last script.
// It serves everything else like a server with sessions.
type listener struct {
	legacyServer
	start   time.Time
	gets    []get
	scripts []http.HandlerFunc
}

func newListener(scripts ...http.HandlerFunc) *listener {
	l := &listener{start: time.Now(), scripts: scripts}
	l.listen = func(w http.ResponseWriter, r *http.Request) {
		l.mu.Lock()
		n := min(len(l.gets), len(scripts)-1)
		l.gets = append(l.gets, get{time.Since(l.start), r.Header.Get("Last-Event-ID"), r.Header.Get("Mcp-Session-Id")})
		l.mu.Unlock()
		scripts[n](w, r)
	}
	return l
}

// seen returns the GET requests so far.
func (l *listener) seen() []get {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.gets)
}

// events answers with a stream and leaves it open.
func events(stream string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		answerEvents(w, stream)
		<-r.Context().Done()
	}
}

// closing answers with a stream and ends it.
func closing(stream string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { answerEvents(w, stream) }
}

// cutting answers with a stream and cuts the connection.
func cutting(stream string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		answerEvents(w, stream)
		panic(http.ErrAbortHandler)
	}
}

// listen starts a session in a bubble with these scripts.
func listen(t *testing.T, cfg transport.Config, scripts ...http.HandlerFunc) (transport.Conn, *listener, *bubble) {
	l := newListener(scripts...)
	b := newBubble(t, l.ServeHTTP)
	conn := dialHTTP(t, b.transport(), cfg)
	startSession(t, conn)
	synctest.Wait()
	return conn, l, b
}

func TestHTTPListeningStreamDeliversNotifications(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stream := events(": hello\n\nid: 1\ndata:\n\n" + event(note) + "event: ping\ndata: {}\n\n" + event(note))
		conn, l, _ := listen(t, transport.Config{}, func(w http.ResponseWriter, r *http.Request) {
			if got := r.Header.Get("Accept"); got != "text/event-stream" {
				t.Errorf("want a stream accepted, got Accept: %q", got)
			}
			stream(w, r)
		})
		receiveData(t, conn, note, 0)
		receiveData(t, conn, note, 0)
		receiveNothing(t, conn)
		if got := l.seen(); len(got) != 1 || got[0].session != "session-1" || got[0].last != "" {
			t.Errorf("want one GET with the session's id, got %v", got)
		}
	})
}

func TestHTTPListensOnlyIfTheServerHasAStream(t *testing.T) {
	for name, c := range map[string]struct {
		no     bool
		answer http.HandlerFunc
		gets   int
	}{
		"405":                         {false, answer(405, ""), 1},
		"404 at once":                 {false, answer(404, ""), 1},
		"400":                         {false, answer(400, ""), 1},
		"401":                         {false, answer(401, ""), 1},
		"not events":                  {false, answer(200, "{}", "Content-Type", "application/json"), 1},
		"202":                         {false, answer(202, ""), 1},
		"not wanted":                  {true, events(""), 0},
		"500":                         {false, answer(500, ""), 5},
		"503":                         {false, answer(503, ""), 5},
		"503 with a long Retry-After": {false, answer(503, "", "Retry-After", "3600"), 1},
		"cut":                         {false, raw(""), 6}, // net/http repeats the first attempt
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newListener(c.answer)
				b := newBubble(t, l.ServeHTTP)
				h := b.transport()
				h.NoListening = c.no
				conn := dialHTTP(t, h, transport.Config{})
				startSession(t, conn)
				time.Sleep(16 * time.Second) // attempts after 0, 1, 3, 7 and 15 s
				if got := l.seen(); len(got) != c.gets {
					t.Errorf("want %d requests for the stream in 16 s, got %v", c.gets, got)
				}
				send(t, conn, call(2))
				receiveData(t, conn, result(2), 2)
			})
		})
	}
}

func TestHTTPReopensTheListeningStream(t *testing.T) {
	for _, c := range []struct {
		name    string
		scripts []http.HandlerFunc
		want    []get // requests within 10 s
	}{
		{
			"after the last event, one second later",
			[]http.HandlerFunc{closing("id: 7\n" + event(note)), events("")},
			[]get{{0, "", ""}, {time.Second, "7", ""}},
		},
		{
			"after the delay that the server suggests",
			[]http.HandlerFunc{cutting("retry: 3500\n\n"), cutting(""), events("")},
			[]get{{0, "", ""}, {3500 * time.Millisecond, "", ""}, {7 * time.Second, "", ""}},
		},
		{
			"with a minimum delay",
			[]http.HandlerFunc{closing("retry: 0\n\n"), events("")},
			[]get{{0, "", ""}, {100 * time.Millisecond, "", ""}},
		},
		{
			"with growing delays if no event arrives",
			[]http.HandlerFunc{closing("")},
			[]get{{0, "", ""}, {time.Second, "", ""}, {3 * time.Second, "", ""}, {7 * time.Second, "", ""}},
		},
		{
			"with the first delay again after an event",
			[]http.HandlerFunc{closing(""), closing(""), closing("id: a\n\n"), events("")},
			[]get{{0, "", ""}, {time.Second, "", ""}, {3 * time.Second, "", ""}, {4 * time.Second, "a", ""}},
		},
		{
			"without Last-Event-ID if the id is reset",
			[]http.HandlerFunc{closing("id: 7\n\nid:\n\n"), events("")},
			[]get{{0, "", ""}, {time.Second, "", ""}},
		},
		{
			"without Last-Event-ID if the id is invalid in a header",
			[]http.HandlerFunc{closing("id: 7\n\nid: \x01\n\n"), events("")},
			[]get{{0, "", ""}, {time.Second, "", ""}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				conn, l, _ := listen(t, transport.Config{}, c.scripts...)
				go func() {
					for {
						if _, err := conn.Receive(t.Context()); err != nil {
							return
						}
					}
				}()
				time.Sleep(10 * time.Second)
				got := l.seen()
				for i := range got {
					got[i].session = ""
				}
				if !slices.EqualFunc(got, c.want, inTurn()) {
					t.Errorf("want requests for the stream at %v, more or less, got %v", c.want, got)
				}
			})
		})
	}
}

func TestHTTPListeningDetectsLostSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn, _, b := listen(t, transport.Config{}, events(""), answer(404, ""))
		b.crash(nil)
		if e := receiveError(t, conn, 0); e.Reason != transport.ReasonSessionGone {
			t.Errorf("404 to a stream that was open before: want the session gone, got %v", e)
		}
		receiveNothing(t, conn)
	})
}

// The client detects an outage after a while even if it sends no request.
func TestHTTPListeningDetectsUnreachableServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn, _, b := listen(t, transport.Config{}, events(""))
		down, start := errors.New("the server is down"), time.Now()
		b.crash(down)
		end := receiveEnd(t, conn)
		if took := time.Since(start); !errors.Is(end, down) || took < 5600*time.Millisecond || took > 7*time.Second {
			t.Errorf("want the connection to end at the third failure, after 7 s or up to a fifth less, got %v after %v", end,
				took)
		}
	})
}

func TestHTTPListeningSurvivesAShortOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn, _, b := listen(t, transport.Config{}, events(""), events(event(note)))
		b.crash(errors.New("down"))
		time.Sleep(1500 * time.Millisecond)
		b.crash(nil)
		receiveData(t, conn, note, 0)
	})
}

func TestHTTPReportsOpenedAndEndedStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := make(chan string, 10)
		cfg := transport.Config{Stream: func(kind string) func(error) {
			log <- "open " + kind
			return func(err error) { log <- fmt.Sprint("end ", err) }
		}}
		conn, _, _ := listen(t, cfg, closing(""), cutting(""), events(""))
		time.Sleep(time.Minute)
		if err := conn.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		close(log)
		want := []string{"open get", "end <nil>", "open get", "end unexpected EOF", "open get", "end <nil>"}
		if got := slices.Collect(seq(log)); !slices.Equal(got, want) {
			t.Errorf("want %q, got %q", want, got)
		}
	})
}

func seq[T any](c <-chan T) func(func(T) bool) {
	return func(yield func(T) bool) {
		for v := range c {
			if !yield(v) {
				return
			}
		}
	}
}

// If the client does not receive, each stream holds one frame and reads no further.
func TestHTTPStreamsBufferOneFrameEach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const size = 64 << 10 // larger than every buffer in between
		wrote := make(chan int, 100)
		conn, _, _ := listen(t, transport.Config{}, func(w http.ResponseWriter, r *http.Request) {
			answerEvents(w, ":\n")
			for i := 0; r.Context().Err() == nil; i++ {
				writeFlushed(w, event(fmt.Sprintf(`{"jsonrpc":"2.0","method":"n","params":{"n":%d,"pad":%q}}`, i,
					strings.Repeat("x", size))))
				wrote <- i
			}
		})
		synctest.Wait()
		if n := len(wrote); n > 1 {
			t.Errorf("the client does not receive: want one frame written and one being written, got %d written", n)
		}
		for i := range 5 {
			if f := receive(t, conn); !strings.Contains(string(f.Data[:60]), fmt.Sprintf(`"n":%d,`, i)) {
				t.Fatalf("want frame %d, got %.60s", i, f.Data)
			}
		}
		synctest.Wait()
		if n := len(wrote); n > 6 {
			t.Errorf("5 frames received: want 6 written, got %d", n)
		}
	})
}

func TestHTTPStreamsDoNotWaitForEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n = 20
		turn := make(chan int64)
		b := newBubble(t, func(w http.ResponseWriter, r *http.Request) {
			m := readSent(r)
			answerEvents(w, event(note))
			for id := range turn {
				if id == m.ID {
					break
				}
				turn <- id
			}
			writeFlushed(w, event(result(m.ID)))
		})
		conn := dialHTTP(t, b.transport(), transport.Config{})
		for id := range int64(n) {
			send(t, conn, call(id+1))
		}
		for range n {
			receive(t, conn)
		}
		for id := int64(n); id > 0; id-- {
			turn <- id
			receiveData(t, conn, result(id), id)
		}
	})
}

// inTurn returns a function that compares requests with the expected ones, in order. The time between two requests may
// differ by up to a fifth, because the delays are partly random.
func inTurn() func(got, want get) bool {
	var before, planned time.Duration
	return func(got, want get) bool {
		waited, wait := got.at-before, want.at-planned
		before, planned = got.at, want.at
		got.at = want.at
		return got == want && waited >= wait-wait/5 && waited <= wait+wait/5
	}
}

func TestHTTPResumesBrokenStreams(t *testing.T) {
	progress := `{"jsonrpc":"2.0","method":"notifications/progress"}`
	final := event(result(2))
	for _, c := range []struct {
		name   string
		first  http.HandlerFunc // answers the request
		rest   []http.HandlerFunc
		want   []get
		frames []string
		reason transport.RequestReason // reason of the failure after the frames; 0 for none
	}{
		{
			"after the delay that the server suggests",
			closing("id: 1\nretry: 500\ndata:\n\n"), []http.HandlerFunc{events(final)},
			[]get{{500 * time.Millisecond, "1", "session-1"}}, []string{result(2)}, 0,
		},
		{
			"from the last event",
			closing("id: 1\n" + event(progress) + "id: 2\n" + event(progress)),
			[]http.HandlerFunc{cutting("id: 3\n" + event(progress)), events(final)},
			[]get{{time.Second, "2", "session-1"}, {2 * time.Second, "3", "session-1"}}, []string{progress, progress, progress,
				result(2)}, 0,
		},
		{
			"before an event that was cut off",
			cutting("id: 1\n" + event(progress) + "id: 2\ndata: {"), []http.HandlerFunc{events(final)},
			[]get{{time.Second, "1", "session-1"}}, []string{progress, result(2)}, 0,
		},
		{
			"after temporary errors",
			cutting("id: 1\n\n"), []http.HandlerFunc{answer(500, ""), answer(502, ""), answer(503, ""), closing(""),
				events(final)},
			[]get{{1 * time.Second, "1", "session-1"}, {3 * time.Second, "1", "session-1"}, {7 * time.Second, "1", "session-1"},
				{15 * time.Second, "1", "session-1"}, {31 * time.Second, "1", "session-1"}},
			[]string{result(2)}, 0,
		},
		{
			"only a limited number of times",
			cutting("id: 1\nretry: 1000\n\n"), []http.HandlerFunc{closing("")},
			[]get{{1 * time.Second, "1", "session-1"}, {2 * time.Second, "1", "session-1"}, {3 * time.Second, "1", "session-1"},
				{4 * time.Second, "1", "session-1"}, {5 * time.Second, "1", "session-1"}},
			nil, transport.ReasonLost,
		},
		{
			"as long as events arrive",
			cutting("id: 1\nretry: 1000\n\n"), []http.HandlerFunc{closing(""), closing("id: 2\n\n"), closing(""), closing(""),
				closing(""), closing(""), events(final)},
			[]get{{1 * time.Second, "1", "session-1"}, {2 * time.Second, "1", "session-1"}, {3 * time.Second, "2", "session-1"},
				{4 * time.Second, "2", "session-1"}, {5 * time.Second, "2", "session-1"}, {6 * time.Second, "2",
					"session-1"}, {7 * time.Second, "2", "session-1"}},
			[]string{result(2)}, 0,
		},
		{"no resume without id", cutting("retry: 1\n\n"), []http.HandlerFunc{events(final)}, nil, nil, transport.ReasonLost},
		{"no resume after 405", cutting("id: 1\n\n"), []http.HandlerFunc{answer(405, "")},
			[]get{{time.Second, "1", "session-1"}}, nil, transport.ReasonLost},
		{"no resume after 401", cutting("id: 1\n\n"), []http.HandlerFunc{answer(401, "")},
			[]get{{time.Second, "1", "session-1"}}, nil, transport.ReasonLost},
		{"no resume with another content type", cutting("id: 1\n\n"),
			[]http.HandlerFunc{answer(200, result(2), "Content-Type", "application/json")}, []get{{time.Second, "1",
				"session-1"}}, nil, transport.ReasonLost},
		{"no resume after the session is gone", cutting("id: 1\n\n"), []http.HandlerFunc{answer(404, "")},
			[]get{{time.Second, "1", "session-1"}}, nil, transport.ReasonSessionGone},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newListener(c.rest...)
				b := newBubble(t, func(w http.ResponseWriter, r *http.Request) {
					if r.Method == http.MethodPost && strings.Contains(r.Header.Get("Baggage"), "resume") {
						readSent(r)
						c.first(w, r)
						return
					}
					l.ServeHTTP(w, r)
				})
				h := b.transport()
				h.NoListening = true
				conn := dialHTTP(t, h, transport.Config{})
				startSession(t, conn)
				m := call(2)
				m.Baggage = "resume=1"
				ctx := context.WithValue(t.Context(), ctxKey{}, "value")
				if err := conn.Send(ctx, m); err != nil {
					t.Fatal(err)
				}
				for _, want := range c.frames {
					f, err := conn.Receive(t.Context())
					if err != nil || string(f.Data) != want || f.Request != 2 {
						t.Fatalf("want %s for request 2, got %s for %d, failure %v and error %v", want, f.Data, f.Request, f.Err, err)
					}
				}
				if c.reason != 0 {
					f, err := conn.Receive(t.Context())
					if err != nil || f.Err == nil || f.Err.Reason != c.reason || f.Err.Unsent {
						t.Errorf("want the request failed with reason %v and not unsent, got %s %v and error %v", c.reason, f.Data, f.Err,
							err)
					}
				}
				receiveNothing(t, conn)
				if got := l.seen(); !slices.EqualFunc(got, c.want, inTurn()) {
					t.Errorf("want requests to resume\n%v, more or less, got\n%v", c.want, got)
				}
			})
		})
	}
}

func TestHTTPModernStreamsAreNotResumed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		b := newBubble(t, func(w http.ResponseWriter, r *http.Request) {
			n++
			closing("id: 1\nretry: 1\n\n")(w, r)
		})
		conn := dialHTTP(t, b.transport(), transport.Config{})
		send(t, conn, modernCall(1))
		if e := receiveError(t, conn, 1); e.Reason != transport.ReasonLost {
			t.Errorf("want the request lost, got %v", e)
		}
		time.Sleep(time.Minute)
		if n != 1 {
			t.Errorf("want one request, got %d", n)
		}
	})
}

func TestHTTPCancelEndsResuming(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gets := 0
		b := newBubble(t, func(w http.ResponseWriter, r *http.Request) {
			switch {
			case r.Method == http.MethodGet:
				gets++
			case readSent(r).ID != 0:
				closing("id: 1\nretry: 5000\n\n")(w, r)
			default:
				w.WriteHeader(202)
			}
		})
		conn := dialHTTP(t, b.transport(), transport.Config{})
		send(t, conn, call(1))
		time.Sleep(time.Second)
		conn.Cancel(1, notification("notifications/cancelled"))
		time.Sleep(time.Minute)
		if gets != 0 {
			t.Errorf("want no stream resumed for a cancelled request, got %d", gets)
		}
		receiveNothing(t, conn)
	})
}

// If a stream ends after its answer, its network connection is reused.
func TestHTTPConnectionIsReusedAfterStreamEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		linger, dials := time.Duration(0), 0
		b := newBubble(t, func(w http.ResponseWriter, r *http.Request) {
			answerEvents(w, event(result(readSent(r).ID)))
			select {
			case <-time.After(linger):
			case <-r.Context().Done():
			}
		})
		dial := func(ctx context.Context, network, address string) (net.Conn, error) {
			dials++
			return b.dial(ctx, network, address)
		}
		client := &http.Client{Transport: &http.Transport{DialContext: dial}}
		conn := dialHTTP(t, &transport.HTTP{URL: bubbleURL, Client: client}, transport.Config{})
		for id := range int64(5) {
			send(t, conn, call(id+1))
			receiveData(t, conn, result(id+1), id+1)
			synctest.Wait()
		}
		if dials != 1 {
			t.Errorf("streams that end after their answer: want one connection, got %d", dials)
		}
		linger = time.Hour
		for id := range int64(2) {
			send(t, conn, call(id+1))
			receiveData(t, conn, result(id+1), id+1)
			time.Sleep(time.Second)
		}
		if dials != 2 {
			t.Errorf("streams that do not end: want their connections closed, got %d of them", dials)
		}
	})
}
