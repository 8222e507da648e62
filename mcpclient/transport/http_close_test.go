package transport_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// closeWithin closes the connection and returns how long that took.
func closeWithin(t *testing.T, conn transport.Conn, d time.Duration) (time.Duration, error) {
	t.Helper()
	ctx, cancel := context.Background(), context.CancelFunc(func() {})
	if d > 0 {
		ctx, cancel = context.WithTimeout(ctx, d)
	}
	defer cancel()
	start := time.Now()
	err := conn.Close(ctx)
	return time.Since(start), err
}

// hanging returns a server with sessions that leaves requests with this HTTP method unanswered.
func hanging(method string) http.HandlerFunc {
	s := new(legacyServer)
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method == method {
			readSent(r)
			<-r.Context().Done()
			return
		}
		s.ServeHTTP(w, r)
	}
}

func TestHTTPCloseLimitsTimeOfDelete(t *testing.T) {
	for within, want := range map[time.Duration]time.Duration{time.Second: 400 * time.Millisecond, 0: 2 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			conn := dialHTTP(t, newBubble(t, hanging("DELETE")).transport(), transport.Config{})
			startSession(t, conn)
			synctest.Wait()
			if took, err := closeWithin(t, conn, within); err != nil || took != want {
				t.Errorf("close within %v: want %v, got %v and error %v", within, want, took, err)
			}
		})
	}
}

func TestHTTPCloseWithoutSessionSendsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		b := newBubble(t, func(w http.ResponseWriter, r *http.Request) { n++; answerJSON(w, 200, result(readSent(r).ID)) })
		conn := dialHTTP(t, b.transport(), transport.Config{})
		send(t, conn, modernCall(1))
		receiveData(t, conn, result(1), 1)
		if took, err := closeWithin(t, conn, 0); err != nil || took != 0 || n != 1 {
			t.Errorf("want nothing sent and no time taken, got %d requests, %v and error %v", n-1, took, err)
		}
	})
}

func TestHTTPCloseDoesNotDialUnreachableServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, new(legacyServer).ServeHTTP)
		h := b.transport()
		dials := 0
		dial := func(ctx context.Context, network, address string) (net.Conn, error) {
			dials++
			return b.dial(ctx, network, address)
		}
		h.Client = &http.Client{Transport: &http.Transport{DialContext: dial}}
		conn := dialHTTP(t, h, transport.Config{})
		startSession(t, conn)
		synctest.Wait()
		b.crash(errors.New("down"))
		synctest.Wait()
		send(t, conn, call(2))
		receiveError(t, conn, 2)
		before := dials
		if took, err := closeWithin(t, conn, 0); err != nil || took != 0 || dials != before {
			t.Errorf("want no attempt to reach the server, got %d, after %v with error %v", dials-before, took, err)
		}
	})
}

func TestHTTPCloseWithACancelledContextReturnsAtOnce(t *testing.T) {
	for _, method := range []string{"DELETE", "POST", "GET"} {
		synctest.Test(t, func(t *testing.T) {
			s := new(legacyServer)
			s.listen = events("")
			hang := hanging(method)
			begun := false
			conn := dialHTTP(t, newBubble(t, func(w http.ResponseWriter, r *http.Request) {
				if begun {
					hang(w, r)
				} else {
					s.ServeHTTP(w, r)
				}
			}).transport(), transport.Config{})
			startSession(t, conn)
			synctest.Wait()
			begun = true
			send(t, conn, call(2))
			send(t, conn, notification("n"))
			synctest.Wait()
			start := time.Now()
			if err := conn.Close(endedContext()); err != nil || time.Since(start) != 0 {
				t.Errorf("%s hangs: want it to return at once, got %v and error %v", method, time.Since(start), err)
			}
			if _, err := conn.Receive(t.Context()); err != transport.ErrClosed {
				t.Errorf("receive: want %v, got %v", transport.ErrClosed, err)
			}
		})
	}
}

func TestHTTPShorterCloseEndsConcurrentLongerClose(t *testing.T) {
	for _, method := range []string{"DELETE", "POST"} {
		synctest.Test(t, func(t *testing.T) {
			begun := false
			hang, s := hanging(method), new(legacyServer)
			conn := dialHTTP(t, newBubble(t, func(w http.ResponseWriter, r *http.Request) {
				if begun {
					hang(w, r)
				} else {
					s.ServeHTTP(w, r)
				}
			}).transport(), transport.Config{})
			startSession(t, conn)
			synctest.Wait()
			begun = true
			send(t, conn, notification("n"))
			patient := make(chan time.Duration, 1)
			start := time.Now()
			go func() {
				_ = conn.Close(context.Background())
				patient <- time.Since(start)
			}()
			synctest.Wait()
			time.Sleep(100 * time.Millisecond)
			if err := conn.Close(endedContext()); err != nil {
				t.Errorf("impatient close: want no error, got %v", err)
			}
			if took := <-patient; took != 100*time.Millisecond {
				t.Errorf("%s hangs, patient close: want it to return with the impatient one, got %v", method, took)
			}
		})
	}
}

// Close sends accepted notifications, but not requests, because their answers can no longer arrive.
func TestHTTPCloseSendsAcceptedNotifications(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []string
		b := newBubble(t, func(w http.ResponseWriter, r *http.Request) {
			m := readSent(r)
			if m.ID != 0 {
				<-r.Context().Done()
				return
			}
			select {
			case <-time.After(500 * time.Millisecond):
				got = append(got, m.Method)
				w.WriteHeader(202)
			case <-r.Context().Done():
				got = append(got, "cut "+m.Method)
			}
		})
		conn := dialHTTP(t, b.transport(), transport.Config{})
		send(t, conn, call(1))
		send(t, conn, notification("a"))
		if took, err := closeWithin(t, conn, 0); err != nil || took != 500*time.Millisecond {
			t.Errorf("want it to wait for the notification, got %v and error %v", took, err)
		}
		conn = dialHTTP(t, b.transport(), transport.Config{})
		send(t, conn, notification("b"))
		synctest.Wait()
		if took, err := closeWithin(t, conn, time.Second); err != nil || took != 200*time.Millisecond {
			t.Errorf("want it to wait a fifth of its time for the notification, got %v and error %v", took, err)
		}
		synctest.Wait()
		if want := []string{"a", "cut b"}; !slices.Equal(got, want) {
			t.Errorf("want %q, got %q", want, got)
		}
	})
}

func TestHTTPCloseNamesUserCodeThatDoesNotReturn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		defer close(release)
		h := newBubble(t, answer(200, "")).transport()
		h.Authorizer = auth{authorize: func(*http.Request) error { <-release; return errors.New("late") }}
		conn, err := h.Dial(t.Context(), transport.Config{})
		if err != nil {
			t.Fatal(err)
		}
		send(t, conn, call(1))
		synctest.Wait()
		took, err := closeWithin(t, conn, time.Second)
		if err == nil || took != time.Second {
			t.Errorf("want an error at the deadline, got %v after %v", err, took)
		}
	})
}

func TestHTTPGoroutinesEndWhenIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(time.Second)
			answerJSON(w, 200, result(readSent(r).ID))
		})
		conn := dialHTTP(t, b.transport(), transport.Config{})
		for range 3 {
			for id := range int64(50) {
				send(t, conn, call(id))
			}
			for range 50 {
				receive(t, conn)
			}
			synctest.Wait()
		}
		if n := exchangeGoroutines(); n == 0 || n > 50 {
			t.Errorf("50 requests at once, three times: want at most 50 goroutines, got %d", n)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if n := exchangeGoroutines(); n != 0 {
			t.Errorf("a minute later: want no goroutine, got %d", n)
		}
		send(t, conn, call(1))
		receiveData(t, conn, result(1), 1)
	})
}

func TestHTTPIdleConnectionHasNoGoroutine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn := dialHTTP(t, newBubble(t, func(w http.ResponseWriter, r *http.Request) {
			answerJSON(w, 200, result(readSent(r).ID))
		}).transport(), transport.Config{})
		for id := range int64(3) {
			send(t, conn, call(id))
			receive(t, conn)
			synctest.Wait()
			if n := waitingGoroutines(); n != 1 {
				t.Errorf("after call %d: want one goroutine for the next, got %d", id, n)
			}
			time.Sleep(5 * time.Millisecond)
		}
		time.Sleep(15 * time.Millisecond)
		synctest.Wait()
		if n := waitingGoroutines(); n != 0 {
			t.Errorf("20 ms after the last call: want no goroutine, got %d", n)
		}
	})
}

// exchangeGoroutines returns the number of goroutines for exchanges.
func exchangeGoroutines() int { return strings.Count(allStacks(), "workers.(*Pool[...]).work(") }

// waitingGoroutines returns the number of exchange goroutines in bubbles. Goroutines outside of bubbles may be left
// from earlier tests and are not counted.
func waitingGoroutines() (n int) {
	for stack := range strings.SplitSeq(allStacks(), "\n\n") {
		head, rest, _ := strings.Cut(stack, "\n")
		if strings.Contains(head, "synctest bubble") && strings.Contains(rest, "workers.(*Pool[...]).work(") {
			n++
		}
	}
	return n
}

func allStacks() string {
	buf := make([]byte, 16<<20)
	return string(buf[:runtime.Stack(buf, true)])
}

func TestHTTPCloseLeaksNothing(t *testing.T) {
	s := new(legacyServer)
	s.listen = events(event(note))
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && r.Header.Get("Baggage") != "" {
			readSent(r)
			events(event(note))(w, r)
			return
		}
		s.ServeHTTP(w, r)
	})
	dir, err := os.Open("/proc/self/fd")
	if err != nil {
		t.Skip("descriptors cannot be counted here")
	}
	_ = dir.Close()
	count := func() (fds, conns int) {
		entries, _ := os.ReadDir("/proc/self/fd")
		return len(entries), strings.Count(allStacks(), "net/http.(*persistConn).readLoop(")
	}
	one := func() {
		conn := dialHTTP(t, &transport.HTTP{URL: url}, transport.Config{})
		startSession(t, conn)
		for id := range int64(10) {
			m := call(id + 2)
			if m.Traceparent = "x"; id%2 == 0 {
				m.Baggage = "stream=1"
			}
			send(t, conn, m)
		}
		for range 5 {
			receive(t, conn)
		}
		if _, err := closeWithin(t, conn, wait); err != nil {
			t.Error(err)
		}
	}
	one()
	http.DefaultClient.CloseIdleConnections()
	fds, conns := count()
	for range 20 {
		one()
	}
	for deadline := time.Now().Add(wait); ; runtime.Gosched() {
		fdsNow, connsNow := count()
		if fdsNow <= fds && connsNow <= conns {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("after 20 connections: want %d descriptors and %d network connections as before, got %d and %d", fds, conns,
				fdsNow, connsNow)
		}
	}
	if strings.Contains(allStacks(), "transport.(*httpConn)") {
		t.Errorf("want no goroutine of a connection left, got\n%s", allStacks())
	}
}

func TestHTTPRepeatedReceiveDeliversAnswerOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(time.Duration(readSent(r).ID) * time.Second)
			answerEvents(w, event(result(1)))
			_, _ = io.WriteString(w, event(result(1)))
		})
		conn := dialHTTP(t, b.transport(), transport.Config{})
		send(t, conn, call(1))
		seen := 0
		for range 30 {
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			if _, err := conn.Receive(ctx); err == nil {
				seen++
			}
			cancel()
		}
		if seen != 1 {
			t.Errorf("want the answer once, got it %d times", seen)
		}
	})
}
