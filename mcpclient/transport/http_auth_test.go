package transport_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// auth is an Authorizer that calls functions of a test.
type auth struct {
	authorize func(*http.Request) error
	review    func(*http.Response, int) (bool, error)
}

func (a auth) Authorize(r *http.Request) error { return a.authorize(r) }

func (a auth) Review(r *http.Response, attempt int) (bool, error) { return a.review(r, attempt) }

// passing is an error that is not permanent.
type passing struct{ error }

func (passing) Permanent() bool { return false }

func TestHTTPAuthorizerGetsCredentials(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen []string
		s := new(legacyServer)
		s.listen = events(event(note))
		b := newBubble(t, func(w http.ResponseWriter, r *http.Request) {
			seen = append(seen, r.Method+" "+r.Header.Get("Authorization"))
			if r.Header.Get("Authorization") != "Bearer new" {
				w.WriteHeader(401)
				return
			}
			s.ServeHTTP(w, r)
		})
		token, log := "old", []string{}
		h := b.transport()
		h.Authorizer = auth{
			func(r *http.Request) error { r.Header.Set("Authorization", "Bearer "+token); return nil },
			func(r *http.Response, attempt int) (bool, error) {
				log = append(log, fmt.Sprint(r.Request.Method, " ", r.StatusCode, " ", attempt))
				if r.StatusCode != 401 {
					return false, nil
				}
				token = "new"
				return true, nil
			},
		}
		var authorizing []bool
		authorized := 0
		conn := dialHTTP(t, h, transport.Config{
			Authorizing: func(on bool) { authorizing = append(authorizing, on) }, Authorized: func() { authorized++ },
		})
		startSession(t, conn)
		receiveData(t, conn, note, 0)
		if err := conn.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		want := []string{"POST Bearer old", "POST Bearer new", "POST Bearer new", "GET Bearer new", "DELETE Bearer new"}
		if !slices.Equal(seen, want) {
			t.Errorf("want %q, got %q", want, seen)
		}
		if want := []string{"POST 401 1", "POST 200 2", "POST 202 1", "GET 200 1", "DELETE 405 1"}; !slices.Equal(log, want) {
			t.Errorf("want every response reviewed, %q, got %q", want, log)
		}
		if !slices.Equal(authorizing, []bool{true, false}) {
			t.Errorf("want one pair of calls of Authorizing, got %v", authorizing)
		}
		if authorized != 1 {
			t.Errorf("want one call of Authorized, got %d", authorized)
		}
	})
}

// The server may have acted before a 403, because some proxies reject a request only when they inspect its response.
func TestHTTPAuthorizerDoesNotRepeatRequestAfter403(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sends := 0
		b := newBubble(t, func(w http.ResponseWriter, r *http.Request) { sends++; w.WriteHeader(403) })
		h := b.transport()
		h.Authorizer = auth{
			func(*http.Request) error { return nil },
			func(*http.Response, int) (bool, error) { return true, nil },
		}
		conn := dialHTTP(t, h, transport.Config{})
		send(t, conn, call(1))
		if e := receiveError(t, conn, 1); e.Reason != transport.ReasonUnauthorized || e.Status != 403 || e.Unsent ||
			sends != 1 {
			t.Errorf("want it refused after one send, and not unsent, got %v at send %d, unsent %v", e, sends, e.Unsent)
		}
	})
}

func TestHTTPAuthorizerAttemptsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sends := 0
		b := newBubble(t, func(w http.ResponseWriter, r *http.Request) {
			sends++
			w.Header().Set("WWW-Authenticate", "Bearer")
			w.WriteHeader(403)
		})
		h := b.transport()
		h.Authorizer = auth{
			func(*http.Request) error { return nil },
			func(*http.Response, int) (bool, error) { return true, nil },
		}
		conn := dialHTTP(t, h, transport.Config{})
		send(t, conn, call(1))
		if e := receiveError(t, conn, 1); e.Reason != transport.ReasonUnauthorized || e.Status != 403 || !e.Unsent ||
			sends != 5 {
			t.Errorf("want the request refused at the fifth send, got %v at send %d", e, sends)
		}
	})
}

func TestHTTPAuthorizerErrorIsTemporaryUnauthorized(t *testing.T) {
	reason := fmt.Errorf("no token: %w", passing{errors.New("no network")})
	for _, c := range []struct {
		name              string
		authorize, review error
		status            int
	}{
		{"authorize", reason, nil, 0},
		{"review", nil, reason, 401},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newBubble(t, answer(401, "secret token")).transport()
				h.Authorizer = auth{
					func(*http.Request) error { return c.authorize },
					func(*http.Response, int) (bool, error) { return false, c.review },
				}
				conn := dialHTTP(t, h, transport.Config{})
				send(t, conn, call(1))
				e := receiveError(t, conn, 1)
				if e.Reason != transport.ReasonUnauthorized || !e.Unsent || e.Status != c.status || !errors.Is(e, reason) ||
					e.Permanent() {
					t.Errorf("want a temporary ReasonUnauthorized with the authorizer's error, got %v", e)
				}
			})
		})
	}
}

// The context that the authorizer gets has the values of the sender's context, and ends with the request.
func TestHTTPAuthorizerContextEndsWithRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newBubble(t, answer(401, "")).transport()
		done := make(chan error, 1)
		h.Authorizer = auth{
			func(*http.Request) error { return nil },
			func(r *http.Response, _ int) (bool, error) {
				ctx := r.Request.Context()
				if r.Request.ContentLength != int64(len(call(1).Data)) {
					return false, nil
				}
				if ctx.Value(ctxKey{}) != "span" {
					t.Error("want the values of the sender's context, got others")
				}
				<-ctx.Done()
				done <- ctx.Err()
				return false, ctx.Err()
			},
		}
		conn := dialHTTP(t, h, transport.Config{})
		if err := conn.Send(context.WithValue(t.Context(), ctxKey{}, "span"), call(1)); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		conn.Cancel(1, notification("notifications/cancelled"))
		time.Sleep(3 * time.Second)
		synctest.Wait()
		if err := <-done; err == nil {
			t.Error("want the context to have ended, but it has not")
		}
		receiveNothing(t, conn)
	})
}
