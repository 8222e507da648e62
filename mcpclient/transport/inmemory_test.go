package transport_test

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

func message(data string) transport.Message { return transport.Message{Data: []byte(data)} }

// dialMemory opens an in-memory connection. accept runs the server.
func dialMemory(t *testing.T, cfg transport.Config, accept func(context.Context, *transport.Peer)) transport.Conn {
	t.Helper()
	conn, err := transport.InMemory(accept).Dial(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

// echo sends back each frame that it receives, until the client closes the connection.
func echo(ctx context.Context, p *transport.Peer) {
	for {
		data, err := p.Receive(ctx)
		if err != nil || p.Send(ctx, data) != nil {
			return
		}
	}
}

func TestInMemoryWorksInSynctestBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn := dialMemory(t, transport.Config{}, echo)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if _, err := conn.Receive(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("receive: want an hour to pass, got %v", err)
		}
		if err := conn.Send(t.Context(), message("hello")); err != nil {
			t.Errorf("send: want no error, got %v", err)
		}
		if frame, err := conn.Receive(t.Context()); err != nil || string(frame.Data) != "hello" {
			t.Errorf("receive: want hello, got %q and %v", frame.Data, err)
		}
		if err := conn.Close(t.Context()); err != nil {
			t.Errorf("close: want no error, got %v", err)
		}
	})
}

func TestInMemoryCloseCancelsARunningServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, tt := range []struct {
			deadline, cancelled time.Duration
		}{
			{time.Second, 400 * time.Millisecond},
			{0, 2 * time.Second}, // no deadline: 5 s
		} {
			var after time.Duration
			start := time.Now()
			conn := dialMemory(t, transport.Config{}, func(ctx context.Context, _ *transport.Peer) {
				<-ctx.Done()
				after = time.Since(start)
			})
			ctx, cancel := context.WithCancel(t.Context())
			if tt.deadline > 0 {
				ctx, cancel = context.WithTimeout(t.Context(), tt.deadline)
			}
			if err := conn.Close(ctx); err != nil {
				t.Errorf("close: want no error, got %v", err)
			}
			cancel()
			if after != tt.cancelled {
				t.Errorf("deadline %v: want the server's context cancelled after %v, got %v", tt.deadline, tt.cancelled, after)
			}
		}
	})
}

func TestInMemoryCloseReportsAServerThatDoesNotReturn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, tt := range []struct {
			deadline, took time.Duration
		}{
			{time.Second, time.Second},
			{0, 50 * time.Millisecond}, // cancelled
		} {
			release := make(chan struct{})
			conn := dialMemory(t, transport.Config{}, func(context.Context, *transport.Peer) { <-release })
			ctx, cancel := context.WithTimeout(t.Context(), tt.deadline)
			start := time.Now()
			err := conn.Close(ctx)
			cancel()
			if took := time.Since(start); err == nil || took != tt.took {
				t.Errorf("deadline %v: want an error after %v, got %v after %v", tt.deadline, tt.took, err, took)
			}
			close(release)
			if err := conn.Close(t.Context()); err != nil {
				t.Errorf("close after the server has returned: want no error, got %v", err)
			}
		}
	})
}

func TestInMemoryFramesAreCopied(t *testing.T) {
	conn := dialMemory(t, transport.Config{}, func(ctx context.Context, p *transport.Peer) {
		data, _ := p.Receive(ctx)
		data[0] = 'X'
		reply := []byte("reply")
		_ = p.Send(ctx, reply)
		reply[0] = 'X'
	})
	request := []byte("request")
	if err := conn.Send(t.Context(), transport.Message{Data: request}); err != nil {
		t.Fatal(err)
	}
	frame, err := conn.Receive(t.Context())
	if err != nil || string(frame.Data) != "reply" || string(request) != "request" {
		t.Errorf("want no end to see changes by the other end, got %q, %q and %v", frame.Data, request, err)
	}
	if err := conn.Close(t.Context()); err != nil {
		t.Errorf("close: want no error, got %v", err)
	}
}

func TestInMemoryServerReturnEndsConnection(t *testing.T) {
	conn := dialMemory(t, transport.Config{}, func(ctx context.Context, p *transport.Peer) {
		_ = p.Send(ctx, []byte("last"))
	})
	if frame, err := conn.Receive(t.Context()); err != nil || string(frame.Data) != "last" {
		t.Errorf("receive: want the last frame, got %q and %v", frame.Data, err)
	}
	if _, err := conn.Receive(t.Context()); err != io.EOF {
		t.Errorf("receive: want io.EOF, got %v", err)
	}
	if err := conn.Send(t.Context(), message("{}")); !errors.Is(err, transport.ErrClosed) {
		t.Errorf("send: want ErrClosed, got %v", err)
	}
	if err := conn.Close(t.Context()); err != nil {
		t.Errorf("close: want no error, got %v", err)
	}
}

func TestInMemoryServerSeesEndOfConnection(t *testing.T) {
	ends := make(chan error, 3)
	conn := dialMemory(t, transport.Config{}, func(ctx context.Context, p *transport.Peer) {
		_, _ = p.Receive(ctx)
		_, err := p.Receive(ctx)
		ends <- err
		ends <- p.Send(ctx, []byte("{}"))
		_ = p.Close()
		_, err = p.Receive(ctx)
		ends <- err
	})
	if err := conn.Send(t.Context(), message("{}")); err != nil {
		t.Fatal(err)
	}
	if err := conn.Close(t.Context()); err != nil {
		t.Errorf("close: want no error, got %v", err)
	}
	for _, want := range []error{io.EOF, transport.ErrClosed, io.EOF} {
		if got := <-ends; got != want {
			t.Errorf("want %v, got %v", want, got)
		}
	}
}

func TestInMemoryReportsQueueWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var waited atomic.Int64
		start := make(chan struct{})
		conn := dialMemory(t, transport.Config{QueueWait: func(d time.Duration) { waited.Add(int64(d)) }},
			func(ctx context.Context, p *transport.Peer) {
				<-start
				echo(ctx, p)
			})
		for range 3 {
			if err := conn.Send(t.Context(), message("{}")); err != nil {
				t.Fatal(err)
			}
		}
		if got := conn.Info().Queued; got != 3 {
			t.Errorf("want 3 frames queued, got %d", got)
		}
		time.Sleep(time.Minute)
		close(start)
		for range 3 {
			if _, err := conn.Receive(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if got := time.Duration(waited.Load()); got != 3*time.Minute {
			t.Errorf("want each frame to have waited a minute, got %v in all", got)
		}
		if err := conn.Close(t.Context()); err != nil {
			t.Errorf("close: want no error, got %v", err)
		}
	})
}
