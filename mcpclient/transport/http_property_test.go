package transport_test

import (
	"context"
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// behaviours lists the possible behaviours of a server and a network for an answer. Each behaviour leads to exactly one
// outcome of the request.
var behaviours = map[string]http.HandlerFunc{
	"json":  func(w http.ResponseWriter, r *http.Request) { answerJSON(w, 200, result(readSent(r).ID)) },
	"error": func(w http.ResponseWriter, r *http.Request) { answerJSON(w, 500, errorOf(readSent(r).ID)) },
	"events": func(w http.ResponseWriter, r *http.Request) {
		answerEvents(w, event(note)+event(result(readSent(r).ID)))
	},
	"lasting": func(w http.ResponseWriter, r *http.Request) { events(event(result(readSent(r).ID)))(w, r) },
	"twice": func(w http.ResponseWriter,
		r *http.Request) {
		m := event(result(readSent(r).ID))
		answerEvents(w, m+m)
	},
	"wrong id":   func(w http.ResponseWriter, r *http.Request) { answerJSON(w, 200, result(readSent(r).ID+1e6)) },
	"no answer":  closing(event(note)),
	"resumable":  closing("id: 1\nretry: 100\n" + event(note)),
	"cut":        cutting(event(note)),
	"cut early":  func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	"accepted":   answer(202, ""),
	"html":       answer(200, "<html>", "Content-Type", "text/html"),
	"busy":       answer(503, "", "Retry-After", "1"),
	"refused":    answer(400, "no"),
	"redirected": answer(302, "", "Location", "/"),
	"slow": func(w http.ResponseWriter, r *http.Request) {
		m := readSent(r)
		time.Sleep(time.Duration(m.ID%7) * time.Second)
		answerEvents(w, event(result(m.ID)))
	},
}

// For every behaviour of the server, a request that is not cancelled has exactly one outcome.
func TestHTTPRequestHasExactlyOneOutcome(t *testing.T) {
	names := make([]string, 0, len(behaviours))
	for name := range behaviours {
		names = append(names, name)
	}
	slices.Sort(names)
	rapid.Check(t, func(rt *rapid.T) {
		plan := rapid.SliceOfN(rapid.SampledFrom(names), 1, 60).Draw(rt, "plan")
		cancelled := rapid.SliceOfN(rapid.Bool(), len(plan), len(plan)).Draw(rt, "cancelled")
		synctest.Test(t, func(t *testing.T) {
			b := newBubble(t, func(w http.ResponseWriter, r *http.Request) {
				if name := r.Header.Get("Baggage"); r.Method == http.MethodPost && name != "" {
					behaviours[name](w, r)
				} else {
					w.WriteHeader(202)
				}
			})
			conn := dialHTTP(t, b.transport(), transport.Config{})
			ends := make(map[int64]int)
			var receiving sync.WaitGroup
			ctx, stop := context.WithCancel(t.Context())
			receiving.Go(func() {
				for {
					f, err := conn.Receive(ctx)
					if err != nil {
						return
					}
					if f.Err != nil || string(f.Data) == result(f.Request) || string(f.Data) == errorOf(f.Request) {
						ends[f.Request]++
					}
				}
			})
			for i, name := range plan {
				m := call(int64(i + 1))
				m.Baggage = name
				send(t, conn, m)
			}
			for i, yes := range cancelled {
				if yes {
					conn.Cancel(int64(i+1), notification("notifications/cancelled"))
				}
			}
			time.Sleep(time.Hour)
			stop()
			receiving.Wait()
			for i, name := range plan {
				switch n := ends[int64(i+1)]; {
				case !cancelled[i] && n != 1:
					rt.Errorf("request %d, %s: want one end, got %d", i+1, name, n)
				case n > 1:
					rt.Errorf("cancelled request %d, %s: want one end at most, got %d", i+1, name, n)
				}
			}
			if err := conn.Close(t.Context()); err != nil {
				rt.Errorf("close: want no error, got %v", err)
			}
		})
	})
}

func TestHTTPTransportWorksOverHTTP2(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch m := readSent(r); {
		case m.ID%3 == 0:
			answerJSON(w, 200, result(m.ID))
		case m.ID%3 == 1:
			answerEvents(w, event(note)+event(result(m.ID)))
		default:
			answerEvents(w, event(note))
			<-r.Context().Done()
		}
	}))
	s.EnableHTTP2 = true
	s.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
	s.StartTLS()
	t.Cleanup(s.Close)
	conn := dialHTTP(t, &transport.HTTP{URL: s.URL, Client: s.Client()}, transport.Config{})
	for id := range int64(30) {
		m := modernCall(id)
		send(t, conn, m)
		if id%3 > 0 {
			receiveData(t, conn, note, id)
		}
		if id%3 == 2 {
			notice := notification("notifications/cancelled")
			notice.ProtocolVersion = m.ProtocolVersion
			conn.Cancel(id, notice)
			continue
		}
		receiveData(t, conn, result(id), id)
	}
	if v := conn.Info().HTTPVersion; v != "2" {
		t.Errorf("want HTTP 2, got %q", v)
	}
}
