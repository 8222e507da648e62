package transport_test

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/mcpotel/mcpotel/internal/client/seam"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// resting puts the receiver to rest and returns a channel that is closed when the receiver is woken.
func resting(t *testing.T, conn transport.Conn) <-chan struct{} {
	t.Helper()
	woken := make(chan struct{})
	if f, err := conn.(seam.Rester[transport.Frame]).ReceiveOrRest(func() { close(woken) }); err != seam.ErrResting {
		t.Fatalf("want %v, got %.200s and %v", seam.ErrResting, f.Data, err)
	}
	return woken
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func TestHTTPRestingReceiverIsWokenByFrameOrEnd(t *testing.T) {
	for name, test := range map[string]struct {
		happens func(t *testing.T, b *bubble, conn transport.Conn)
		frame   bool // the receiver gets a frame, not the end of the connection
	}{
		"an answer": {func(t *testing.T, _ *bubble, conn transport.Conn) { send(t, conn, modernCall(1)) }, true},
		"a close":   {func(_ *testing.T, _ *bubble, conn transport.Conn) { _ = conn.Close(endedContext()) }, false},
		"the end": {func(t *testing.T, b *bubble, conn transport.Conn) {
			b.refuse(errors.New("down"))
			send(t, conn, notification("n"))
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBubble(t, func(w http.ResponseWriter, r *http.Request) { answerJSON(w, 200, result(readSent(r).ID)) })
				conn := dialHTTP(t, b.transport(), transport.Config{})
				woken := resting(t, conn)
				synctest.Wait()
				if isClosed(woken) {
					t.Fatal("want the receiver to rest before the event")
				}
				test.happens(t, b, conn)
				<-woken
				f, err := conn.(seam.Rester[transport.Frame]).ReceiveOrRest(func() { t.Error("woken though no receiver rests") })
				if got := err == nil; got != test.frame || err == seam.ErrResting {
					t.Errorf("want a frame: %t, got %.200s and %v", test.frame, f.Data, err)
				}
			})
		})
	}
}

// The receiver waits as long as a frame may arrive, even if no frame does.
func TestHTTPReceiverWaitsWhileRequestsAreInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBubble(t, func(_ http.ResponseWriter, r *http.Request) {
			readSent(r)
			<-r.Context().Done()
		})
		conn := dialHTTP(t, b.transport(), transport.Config{})
		send(t, conn, modernCall(1))
		send(t, conn, modernCall(2))
		rested := make(chan error, 1)
		go func() {
			_, err := conn.(seam.Rester[transport.Frame]).ReceiveOrRest(func() {})
			rested <- err
		}()
		conn.Cancel(1, transport.Message{})
		synctest.Wait()
		if len(rested) > 0 {
			t.Fatalf("a call is in flight: want the receiver to wait, got %v", <-rested)
		}
		conn.Cancel(2, transport.Message{})
		if err := <-rested; err != seam.ErrResting {
			t.Errorf("no call is in flight any more: want %v, got %v", seam.ErrResting, err)
		}
	})
}

func TestHTTPReceiverWaitsWhileAStreamIsOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		say, end := make(chan struct{}), make(chan struct{})
		s := new(legacyServer)
		s.listen = func(w http.ResponseWriter, r *http.Request) {
			answerEvents(w, ": here\n\n")
			<-say
			writeFlushed(w, event(note))
			<-end
			s.listen = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusMethodNotAllowed) }
		}
		conn := dialHTTP(t, newBubble(t, s.ServeHTTP).transport(), transport.Config{})
		startSession(t, conn)
		synctest.Wait()
		got := make(chan error, 2)
		go func() {
			for range 2 {
				_, err := conn.(seam.Rester[transport.Frame]).ReceiveOrRest(func() {})
				got <- err
			}
		}()
		synctest.Wait()
		if len(got) > 0 {
			t.Fatalf("want the receiver to wait for the stream, got %v", <-got)
		}
		close(say)
		if err := <-got; err != nil {
			t.Errorf("want the frame of the stream, got %v", err)
		}
		synctest.Wait()
		if len(got) > 0 {
			t.Fatalf("want the receiver to wait for the stream again, got %v", <-got)
		}
		close(end)
		if err := <-got; err != seam.ErrResting {
			t.Errorf("the stream has ended and is refused: want %v, got %v", seam.ErrResting, err)
		}
	})
}

func TestHTTPReceiverIsWokenByLaterStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		say := make(chan struct{})
		s := new(legacyServer)
		s.listen = func(w http.ResponseWriter, r *http.Request) {
			<-say
			events(event(note))(w, r)
		}
		conn := dialHTTP(t, newBubble(t, s.ServeHTTP).transport(), transport.Config{})
		startSession(t, conn)
		synctest.Wait()
		woken := resting(t, conn)
		close(say)
		<-woken
		receiveData(t, conn, note, 0)
	})
}

// In every interleaving of receivers and calls, each answer is received, by one goroutine at a time.
func TestHTTPRestingReceiversMissNoFrame(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		id := readSent(r).ID
		if id%3 == 0 {
			answerEvents(w, event(note)+event(result(id)))
			return
		}
		answerJSON(w, 200, result(id))
	})
	conn := dialHTTP(t, &transport.HTTP{URL: url}, transport.Config{})
	const calls = 300
	var (
		receiving atomic.Int32
		answered  []int64 // owned by the receiving goroutine
		receivers sync.WaitGroup
		read      func()
	)
	all := make(chan struct{})
	read = func() {
		if receiving.Add(1) != 1 {
			t.Error("two goroutines receive")
		}
		for {
			receiving.Add(-1)
			f, err := conn.(seam.Rester[transport.Frame]).ReceiveOrRest(func() { receivers.Go(read) })
			if err != nil {
				return
			}
			receiving.Add(1)
			if string(f.Data) == result(f.Request) {
				if answered = append(answered, f.Request); len(answered) == calls {
					close(all)
				}
			}
		}
	}
	receivers.Go(read)
	var callers sync.WaitGroup
	for i := range 3 {
		callers.Go(func() {
			for j := range calls / 3 {
				if err := conn.Send(context.Background(), modernCall(int64(3*j+i+1))); err != nil {
					t.Error(err)
				}
			}
		})
	}
	callers.Wait()
	<-all
	if err := conn.Close(t.Context()); err != nil {
		t.Error(err)
	}
	receivers.Wait()
	if slices.Sort(answered); len(slices.Compact(answered)) != calls {
		t.Errorf("want %d calls answered, got %d", calls, len(answered))
	}
}
