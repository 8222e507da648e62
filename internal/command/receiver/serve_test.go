package receiver

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/internal/scrape"
)

// pipes is a listener in memory.
type pipes struct{ conns chan net.Conn }

func (p pipes) Accept() (net.Conn, error) {
	if c, ok := <-p.conns; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}

func (p pipes) Close() error   { close(p.conns); return nil }
func (p pipes) Addr() net.Addr { return &net.TCPAddr{} }

// dial connects to the listener.
func (p pipes) dial(context.Context, string, string) (net.Conn, error) {
	client, server := net.Pipe()
	p.conns <- server
	return client, nil
}

// TestAlertsInProgressAreDeliveredWhenTheServerStops stops the server while it searches.
func TestAlertsInProgressAreDeliveredWhenTheServerStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sink := &kept{}
		searching := make(chan struct{})
		r := receives(t, Options{Sinks: []Sink{sink}, Explain: func(ctx context.Context, a *Alert) *Message {
			close(searching)
			<-ctx.Done()
			return plainly(ctx, a)
		}})
		p := pipes{make(chan net.Conn)}
		server := scrape.Serve(p, r, func(err error) { t.Error(err) })
		client := &http.Client{Transport: &http.Transport{DialContext: p.dial, DisableKeepAlives: true}}
		var group sync.WaitGroup
		group.Go(func() {
			answer, err := client.Post("http://receiver/alerts", "application/json", strings.NewReader(payload(t, Firing, 1)))
			if err != nil {
				t.Error(err)
				return
			}
			_ = answer.Body.Close()
			if answer.StatusCode != http.StatusOK {
				t.Errorf("want 200, got %s", answer.Status)
			}
		})
		<-searching
		if err := server.Shutdown(t.Context()); err != nil || sink.count() != 1 {
			t.Errorf("want the alert delivered before the end, got %d messages, %v", sink.count(), err)
		}
		group.Wait()
	})
}

// TestASlowSearchIsNotCutByTheServer serves the receiver with the limits of the command's server.
func TestASlowSearchIsNotCutByTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const slow = 40 * time.Second
		sink := &kept{}
		r := receives(t, Options{Sinks: []Sink{sink}, Timeout: slow, Explain: func(ctx context.Context, a *Alert) *Message {
			<-ctx.Done()
			return plainly(ctx, a)
		}})
		p := pipes{make(chan net.Conn)}
		server := scrape.Serve(p, r, func(err error) { t.Error(err) })
		client := &http.Client{Transport: &http.Transport{DialContext: p.dial, DisableKeepAlives: true}}
		began := time.Now()
		answer, err := client.Post("http://receiver/alerts", "application/json", strings.NewReader(payload(t, Firing, 1)))
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if took := time.Since(began); answer.StatusCode != http.StatusOK || took != slow || sink.count() != 1 {
			t.Errorf("want 200 after %v, got %s after %v", slow, answer.Status, took)
		}
		// A body that does not arrive is no invalid body: Alertmanager must repeat the request.
		body, writes := io.Pipe()
		began = time.Now()
		answer, err = client.Post("http://receiver/alerts", "application/json", body)
		if err != nil || answer.StatusCode != http.StatusServiceUnavailable || time.Since(began) != reading {
			t.Errorf("want 503 after %v, got %+v, %v after %v", reading, answer, err, time.Since(began))
		}
		_ = writes.Close()
		_ = answer.Body.Close()
		if err := server.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
