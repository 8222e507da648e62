package transport_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// answer returns a handler that writes a whole response.
func answer(status int, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// raw returns a handler that writes response, byte for byte, and cuts the connection.
func raw(response string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // unread data would reset the closed connection, and the response would be lost
		conn, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			_, _ = io.WriteString(conn, response)
			_ = conn.Close()
		}
	}
}

const (
	jsonType   = "Content-Type: application/json\r\n"
	eventsType = "Content-Type: text/event-stream\r\n"
	nullError  = `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request"}}`
)

var someError = errorOf(7)

// errorOf returns an error that answers a request.
func errorOf(id int64) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"error":{"code":-32603,"message":"no"}}`, id)
}

// A bad answer fails only its own request.
func TestHTTPInvalidResponseFailsOnlyItsRequest(t *testing.T) {
	const id = 7
	page := "<html>\n  <body>Bad \x00gateway\n</html>" + strings.Repeat(" filler", 100)
	for _, c := range []struct {
		name   string
		answer http.HandlerFunc
		want   transport.RequestError // only Reason, Unsent, Status and RetryAfter count
		text   string                 // part of the error's text
	}{
		{"400 without a body", answer(400, ""), transport.RequestError{Reason: transport.ReasonStatus, Status: 400}, ""},
		{"404 without a session", answer(404, "404 page not found"),
			transport.RequestError{Reason: transport.ReasonStatus, Status: 404}, `"404 page not found"`},
		{"405", answer(405, ""), transport.RequestError{Reason: transport.ReasonStatus, Status: 405}, ""},
		{"413", answer(413, "too\r\nlarge"), transport.RequestError{Reason: transport.ReasonStatus, Status: 413},
			`"too large"`},
		{"500", answer(500, "panic: \x1b[31moh"), transport.RequestError{Reason: transport.ReasonStatus, Status: 500},
			`"panic: \x1b[31moh"`},
		{"502 HTML", answer(502, page, "Content-Type", "text/html"),
			transport.RequestError{Reason: transport.ReasonStatus, Status: 502}, `"<html> <body>Bad \x00gateway </html> filler`},
		{"JSON that is not JSON-RPC", answer(500, `{"error":"no"}`, "Content-Type", "application/json"),
			transport.RequestError{Reason: transport.ReasonStatus, Status: 500}, `{\"error\":\"no\"}`},
		{"a JSON-RPC request", answer(400, `{"jsonrpc":"2.0","id":7,"method":"ping"}`, "Content-Type", "application/json"),
			transport.RequestError{Reason: transport.ReasonStatus, Status: 400}, "ping"},
		{"401", answer(401, ""), transport.RequestError{Reason: transport.ReasonUnauthorized, Unsent: true, Status: 401}, ""},
		{"403", answer(403, nullError), transport.RequestError{Reason: transport.ReasonUnauthorized, Unsent: true,
			Status: 403},
			"Bad Request"},
		{"429", answer(429, ""), transport.RequestError{Reason: transport.ReasonBusy, Unsent: true, Status: 429}, ""},
		{"429 with seconds", answer(429, "", "Retry-After", "7"),
			transport.RequestError{Reason: transport.ReasonBusy, Unsent: true, Status: 429, RetryAfter: 7 * time.Second}, ""},
		{"503", answer(503, ""), transport.RequestError{Reason: transport.ReasonBusy, Status: 503}, ""},
		{"503 with an error", answer(503, nullError),
			transport.RequestError{Reason: transport.ReasonBusy, Unsent: true, Status: 503}, "Bad Request"},
		{"503 with seconds", answer(503, "", "Retry-After", "0"),
			transport.RequestError{Reason: transport.ReasonBusy, Unsent: true, Status: 503}, ""},
		{"504 with seconds", answer(504, "", "Retry-After", "7"),
			transport.RequestError{Reason: transport.ReasonStatus, Status: 504, RetryAfter: 7 * time.Second}, ""},
		{"403 of a proxy", answer(403, page),
			transport.RequestError{Reason: transport.ReasonUnauthorized, Status: 403}, "Bad"},
		{"403 with a challenge", answer(403, "", "WWW-Authenticate", "Bearer"),
			transport.RequestError{Reason: transport.ReasonUnauthorized, Unsent: true, Status: 403}, ""},
		{"503 with nonsense", answer(503, "", "Retry-After", "soon"),
			transport.RequestError{Reason: transport.ReasonBusy, Status: 503}, ""},
		{"503 with a negative number", answer(503, "", "Retry-After", "-1"),
			transport.RequestError{Reason: transport.ReasonBusy, Status: 503}, ""},
		{"503 with a huge number of seconds", answer(503, "", "Retry-After", "18446744073709551615"),
			transport.RequestError{Reason: transport.ReasonBusy, Unsent: true, Status: 503, RetryAfter: 10 * time.Minute}, ""},
		{"503 with a date in the past", answer(503, "", "Retry-After", "Wed, 21 Oct 2015 07:28:00 GMT"),
			transport.RequestError{Reason: transport.ReasonBusy, Unsent: true, Status: 503}, ""},

		{"202", answer(202, ""), transport.RequestError{Reason: transport.ReasonMalformed, Status: 202}, "empty"},
		{"204", answer(204, ""), transport.RequestError{Reason: transport.ReasonMalformed, Status: 204}, "empty"},
		{"200 without a body", answer(200, "", "Content-Type", "application/json"),
			transport.RequestError{Reason: transport.ReasonMalformed, Status: 200}, "empty"},
		{"200 with an empty chunked body",
			raw("HTTP/1.1 200 OK\r\n" + jsonType + "Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
			transport.RequestError{Reason: transport.ReasonMalformed, Status: 200}, "empty"},
		{"HTML", answer(200, page, "Content-Type", "text/html; charset=utf-8"),
			transport.RequestError{Reason: transport.ReasonMalformed, Status: 200}, "text/html"},
		{"plain text", answer(200, result(id), "Content-Type", "text/plain"),
			transport.RequestError{Reason: transport.ReasonMalformed, Status: 200}, "text/plain"},
		{"cut JSON", raw("HTTP/1.1 200 OK\r\n" + jsonType + "Content-Length: 100\r\n\r\n{\"jsonrpc\":"),
			transport.RequestError{Reason: transport.ReasonLost, Status: 200}, "unexpected EOF"},
		{"cut chunk", raw("HTTP/1.1 200 OK\r\n" + jsonType + "Transfer-Encoding: chunked\r\n\r\n100\r\n{\"jsonrpc\":"),
			transport.RequestError{Reason: transport.ReasonLost, Status: 200}, "unexpected EOF"},
		{"cut before the body", raw("HTTP/1.1 200 OK\r\n" + jsonType + "Content-Length: 100\r\n\r\n"),
			transport.RequestError{Reason: transport.ReasonLost, Status: 200}, "unexpected EOF"},
		{"cut in the header", raw("HTTP/1.1 200 OK\r\nContent-Ty"), transport.RequestError{Reason: transport.ReasonLost},
			"malformed MIME"},
		{"cut at once", raw(""), transport.RequestError{Reason: transport.ReasonLost}, "EOF"},
		{"not HTTP", raw("SSH-2.0-OpenSSH_9.6\r\n"), transport.RequestError{Reason: transport.ReasonLost}, "malformed HTTP"},
		{"events without an answer", answer(200, ": hello\n\n", "Content-Type", "text/event-stream"),
			transport.RequestError{Reason: transport.ReasonLost}, "before the answer: EOF"},
		{"cut events", raw("HTTP/1.1 200 OK\r\n" + eventsType + "\r\ndata: {\"jsonrpc\":"),
			transport.RequestError{Reason: transport.ReasonLost}, "before the answer: unexpected EOF"},

		{"302", answer(302, "", "Location", "/other"), transport.RequestError{Reason: transport.ReasonStatus, Status: 302},
			"not followed"},
		{"303", answer(303, "", "Location", "/other"), transport.RequestError{Reason: transport.ReasonStatus, Status: 303},
			"not followed"},
		{"307 to another host", answer(307, "", "Location", "http://example.com/secret?x"),
			transport.RequestError{Reason: transport.ReasonStatus, Status: 307}, `"http://example.com" is not followed`},
		{"308 to another scheme", answer(308, "", "Location", "https://127.0.0.1/"),
			transport.RequestError{Reason: transport.ReasonStatus, Status: 308}, "not followed"},
		{"301 to a slash", answer(301, "", "Location", "/mcp/"),
			transport.RequestError{Reason: transport.ReasonStatus, Status: 301},
			`/mcp/" is not followed; if that is the MCP endpoint, use it as the URL`},
		{"an unaccepted content encoding", answer(200, "x", "Content-Type", "application/json", "Content-Encoding", "br"),
			transport.RequestError{Reason: transport.ReasonMalformed, Status: 200},
			`content encoding "br", but the client accepts only gzip`},
		{"307 without a Location", answer(307, ""), transport.RequestError{Reason: transport.ReasonStatus, Status: 307}, ""},
		{"endless 307", answer(307, "", "Location", ""+"?again"),
			transport.RequestError{Reason: transport.ReasonStatus, Status: 307}, "not followed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			url := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if m := readSent(r); m.ID == id {
					c.answer(w, r)
				} else {
					answerJSON(w, 200, result(m.ID))
				}
			})
			for _, mode := range []transport.HTTPMode{transport.ModeAuto, transport.ModeStreamable} {
				conn := dialHTTP(t, &transport.HTTP{URL: url, Mode: mode}, transport.Config{})
				for _, m := range []transport.Message{call(id), modernCall(id)} {
					send(t, conn, m)
					got := receiveError(t, conn, id)
					if got.Reason != c.want.Reason || got.Unsent != c.want.Unsent || got.Status != c.want.Status ||
						got.RetryAfter != c.want.RetryAfter {
						t.Errorf("want %+v, got %+v", c.want, *got)
					}
					if !strings.Contains(got.Error(), c.text) || len(got.Error()) > 400 ||
						strings.ContainsAny(got.Error(), "\x00\x1b\n") {
						t.Errorf("want an error of one short line with %q, got %q", c.text, got)
					}
				}
				send(t, conn, call(1))
				receiveData(t, conn, result(1), 1)
			}
		})
	}
}

// A JSON-RPC answer is delivered whatever its HTTP status, and ends the request.
func TestHTTPJSONRPCResponsesOfAnyStatusAreDelivered(t *testing.T) {
	const id = 7
	for _, c := range []struct {
		name    string
		answer  http.HandlerFunc
		want    string
		failure transport.RequestReason // reason of the failure that follows; 0 for none
	}{
		{"an error at 400", answer(400, someError, "Content-Type", "application/json"), someError, 0},
		{"an error at 500", answer(500, someError, "Content-Type", "application/json; charset=utf-8"), someError, 0},
		{"an error without an id", answer(400, nullError, "Content-Type", "application/json"), nullError, 0},
		{"an error with a wrong type", answer(404, someError, "Content-Type", "text/plain"), someError, 0},
		{"a result without a type", raw("HTTP/1.1 200 OK\r\n\r\n" + result(id)), result(id), 0},
		{"a type in capitals", answer(200, result(id), "Content-Type", "APPLICATION/JSON ;charset=UTF-8"), result(id), 0},
		{"a result of a 202", answer(202, result(id), "Content-Type", "application/json"), result(id), 0},
		{"a batch", answer(200, "["+result(8)+","+result(id)+"]", "Content-Type", "application/json"),
			"[" + result(8) + "," + result(id) + "]", 0},
		{"gzip", zipped(result(id)), result(id), 0},
		{"a result of the wrong shape", answer(200, `{"jsonrpc":"2.0","id":7,"result":3}`, "Content-Type",
			"application/json"), `{"jsonrpc":"2.0","id":7,"result":3}`, 0},

		{"a wrong id", answer(200, result(8), "Content-Type", "application/json"), result(8), transport.ReasonMalformed},
		{"a wrong id at 400", answer(400, strings.Replace(someError, "7", "8", 1), "Content-Type", "application/json"),
			strings.Replace(someError, "7", "8", 1), transport.ReasonStatus},
		{"a string as id", answer(200, `{"jsonrpc":"2.0","id":"7","result":{}}`, "Content-Type", "application/json"),
			`{"jsonrpc":"2.0","id":"7","result":{}}`, transport.ReasonMalformed},
		{"not JSON", answer(200, `{"jsonrpc":`, "Content-Type", "application/json"), `{"jsonrpc":`,
			transport.ReasonMalformed},
		{"not JSON-RPC", answer(200, `{"ok":true}`, "Content-Type", "application/json"), `{"ok":true}`,
			transport.ReasonMalformed},
		{"a notification", answer(200, `{"jsonrpc":"2.0","method":"x"}`, "Content-Type", "application/json"),
			`{"jsonrpc":"2.0","method":"x"}`, transport.ReasonMalformed},
		{"a batch of other ids", answer(200, "["+result(8)+"]", "Content-Type", "application/json"), "[" + result(8) + "]",
			transport.ReasonMalformed},
		{"events with a wrong id", answer(200, event(result(8)), "Content-Type", "text/event-stream"), result(8),
			transport.ReasonLost},
	} {
		t.Run(c.name, func(t *testing.T) {
			url := serve(t, c.answer)
			conn := dialHTTP(t, &transport.HTTP{URL: url}, transport.Config{})
			send(t, conn, call(id))
			receiveData(t, conn, c.want, id)
			if c.failure != 0 {
				if got := receiveError(t, conn, id); got.Reason != c.failure {
					t.Errorf("want a failure with reason %v after the frame, got %v", c.failure, got)
				}
			}
			receiveNothing(t, conn)
		})
	}
}

func zipped(body string) http.HandlerFunc {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = io.WriteString(z, body)
	_ = z.Close()
	return answer(200, b.String(), "Content-Type", "application/json", "Content-Encoding", "gzip")
}

func TestHTTPRetryAfterMayBeADate(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", time.Now().Add(9*time.Minute).UTC().Format(http.TimeFormat))
		w.WriteHeader(503)
	})
	conn := dialHTTP(t, &transport.HTTP{URL: url}, transport.Config{})
	send(t, conn, call(1))
	if e := receiveError(t, conn, 1); e.RetryAfter < 8*time.Minute || e.RetryAfter > 9*time.Minute {
		t.Errorf("Retry-After in nine minutes: got %v", e.RetryAfter)
	}
}

// A server may send an error or an invalid answer to a notification. Receive reports neither.
func TestHTTPResponsesToNotificationsAreIgnored(t *testing.T) {
	for name, handler := range map[string]http.HandlerFunc{
		"202":          answer(202, ""),
		"200 and text": answer(200, "ok"),
		"200 and {}":   answer(200, "{}", "Content-Type", "application/json"),
		"400":          answer(400, "no"),
		"500":          answer(500, ""),
		"cut":          raw(""),
		"event stream": func(w http.ResponseWriter,
			r *http.Request) {
			answerEvents(w, event(result(1)))
			<-r.Context().Done()
		},
		"404":           answer(404, ""),
		"a redirection": answer(302, "", "Location", "/"),
	} {
		t.Run(name, func(t *testing.T) {
			conn := dialHTTP(t, &transport.HTTP{URL: serve(t, handler)}, transport.Config{})
			send(t, conn, notification("notifications/cancelled"))
			receiveNothing(t, conn)
		})
	}
}

func TestHTTPRedirectsWithinTheOriginAreFollowed(t *testing.T) {
	var got []string
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		got = append(got, r.Method+" "+r.URL.Path+" "+r.Header.Get("X-Secret"))
		switch r.URL.Path {
		case "/mcp":
			w.Header().Set("Location", "/mcp/")
			w.WriteHeader(http.StatusTemporaryRedirect)
		case "/mcp/":
			w.Header().Set("Location", "http://"+strings.ToUpper(r.Host)+"/here")
			w.WriteHeader(http.StatusPermanentRedirect)
		default:
			answerJSON(w, 200, result(readSent(r).ID))
		}
	})
	conn := dialHTTP(t, &transport.HTTP{URL: url, Header: http.Header{"x-secret": {"s"}}}, transport.Config{})
	send(t, conn, call(3))
	receiveData(t, conn, result(3), 3)
	if want := "POST /mcp s,POST /mcp/ s,POST /here s"; strings.Join(got, ",") != want {
		t.Errorf("want %s, got %s", want, strings.Join(got, ","))
	}
}

func TestHTTPHeadersOfAnswersAreBounded(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		m := readSent(r)
		w.Header().Set("X-Much", strings.Repeat("x", int(m.ID)<<19))
		answerJSON(w, 200, fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{}}`, m.ID))
	})
	conn := dialHTTP(t, &transport.HTTP{URL: url}, transport.Config{})
	send(t, conn, call(1))
	receiveData(t, conn, `{"jsonrpc":"2.0","id":1,"result":{}}`, 1)
	send(t, conn, call(3))
	if e := receiveError(t, conn, 3); e.Err == nil || !strings.Contains(e.Err.Error(), "header") {
		t.Errorf("a header of 1.5 MiB: got %v, want an error about headers", e.Err)
	}
}

func TestHTTPFrameLimitIsExact(t *testing.T) {
	const limit = 1 << 20
	sized := func(id int64, size int) string {
		pad := size - len(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"pad":""}}`, id))
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"pad":"%s"}}`, id, strings.Repeat("x", pad))
	}
	forms := map[string]http.HandlerFunc{
		"JSON with length": func(w http.ResponseWriter, r *http.Request) {
			m := readSent(r)
			body := sized(m.ID, limit+int(m.ID)-1)
			w.Header().Set("Content-Length", fmt.Sprint(len(body)))
			answerJSON(w, 200, body)
		},
		"JSON in chunks": func(w http.ResponseWriter, r *http.Request) {
			m := readSent(r)
			w.Header().Set("Content-Type", "application/json")
			for chunk := range strings.SplitAfterSeq(sized(m.ID, limit+int(m.ID)-1), strings.Repeat("x", 99_999)) {
				writeFlushed(w, chunk)
			}
		},
		"events": func(w http.ResponseWriter, r *http.Request) {
			m := readSent(r)
			answerEvents(w, event(sized(m.ID, limit+int(m.ID)-1)))
		},
	}
	for name, handler := range forms {
		url := serve(t, handler)
		t.Run(name, func(t *testing.T) {
			conn := dialHTTP(t, &transport.HTTP{URL: url}, transport.Config{FrameLimit: limit})
			send(t, conn, call(1))
			receiveData(t, conn, sized(1, limit), 1)
			send(t, conn, call(2))
			for range 2 {
				e, ok := errors.AsType[*transport.FrameTooLargeError](receiveEnd(t, conn))
				if !ok || e.Limit != limit || e.Size <= limit || !strings.HasPrefix(sized(2, limit+1), string(e.Head)) ||
					len(e.Head) == 0 {
					t.Fatalf("want a FrameTooLargeError with size and head, got %+v", e)
				}
			}
			if err := conn.Send(t.Context(), call(3)); !errors.Is(err, transport.ErrClosed) {
				t.Errorf("send: want an error that is ErrClosed, got %v", err)
			}
		})
		t.Run(name+", skipped", func(t *testing.T) {
			conn := dialHTTP(t, &transport.HTTP{URL: url}, transport.Config{FrameLimit: limit, SkipOversize: true})
			for id := range int64(4) {
				send(t, conn, call(id+1))
				if id == 0 {
					receiveData(t, conn, sized(1, limit), 1)
					continue
				}
				e, whole := receiveError(t, conn, id+1), sized(id+1, limit+int(id))
				if e.Reason != transport.ReasonTooLarge || e.Size != len(whole) || e.Limit != limit {
					t.Errorf("want ReasonTooLarge with %d bytes, got %+v", len(whole), e)
				}
				if len(e.Head) != 1<<10 || !strings.HasPrefix(whole, string(e.Head)) || len(e.Tail) != 1<<10 ||
					!strings.HasSuffix(whole, string(e.Tail)) {
					t.Errorf("want both ends, got %d and %d bytes", len(e.Head), len(e.Tail))
				}
			}
		})
	}
}

func TestHTTPDefaultLimitIs16MiB(t *testing.T) {
	for _, form := range []string{"application/json", "text/event-stream"} {
		for _, more := range []int{0, 1} {
			head, tail := `{"jsonrpc":"2.0","id":1,"result":{"pad":"`, `"}}`
			body := head + strings.Repeat("x", 16<<20-len(head)-len(tail)+more) + tail
			wire := body
			if form == "text/event-stream" {
				wire = event(body)
			}
			conn := dialHTTP(t, &transport.HTTP{URL: serve(t, answer(200, wire, "Content-Type", form))}, transport.Config{})
			send(t, conn, call(1))
			if more == 0 {
				receiveData(t, conn, body, 1)
				continue
			}
			if _, ok := errors.AsType[*transport.FrameTooLargeError](receiveEnd(t, conn)); !ok {
				t.Errorf("%s of 16 MiB and a byte: want a FrameTooLargeError", form)
			}
		}
	}
}

// A notification above the limit on a request's stream is not the answer.
func TestHTTPOversizeNotificationDoesNotEndRequest(t *testing.T) {
	long := `{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"` + strings.Repeat("x", 5000) + `"}}`
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		answerEvents(w, event(long)+event(result(readSent(r).ID)))
	})
	conn := dialHTTP(t, &transport.HTTP{URL: url}, transport.Config{FrameLimit: 1000, SkipOversize: true})
	send(t, conn, call(5))
	if e := receiveError(t, conn, 0); e.Reason != transport.ReasonTooLarge || e.Size != len(long) {
		t.Errorf("want a frame of %d bytes skipped, got %v", len(long), e)
	}
	receiveData(t, conn, result(5), 5)
}

// A server may announce a body and never complete it.
func TestHTTPCancelEndsIncompleteResponse(t *testing.T) {
	for name, start := range map[string]string{
		"JSON":         "HTTP/1.1 200 OK\r\n" + jsonType + "Content-Length: 1000\r\n\r\n{",
		"chunks":       "HTTP/1.1 200 OK\r\n" + jsonType + "Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n",
		"events":       "HTTP/1.1 200 OK\r\n" + eventsType + "\r\ndata: {",
		"an error":     "HTTP/1.1 500 Oh\r\nContent-Length: 1000\r\n\r\nx",
		"a refusal":    "HTTP/1.1 401 No\r\nContent-Length: 1000\r\n\r\nx",
		"the header":   "HTTP/1.1 200 OK\r\nX-",
		"nothing":      "",
		"a wrong type": "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 1000\r\n\r\n<",
	} {
		t.Run(name, func(t *testing.T) {
			ended := make(chan struct{})
			url := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if readSent(r).ID == 0 {
					w.WriteHeader(202)
					return
				}
				conn, _, err := w.(http.Hijacker).Hijack()
				if err != nil {
					return
				}
				defer conn.Close()
				_, _ = io.WriteString(conn, start)
				_, _ = io.Copy(io.Discard, conn) // until the client hangs up
				close(ended)
			})
			for _, m := range []transport.Message{call(1), modernCall(1)} {
				ended = make(chan struct{})
				conn := dialHTTP(t, &transport.HTTP{URL: url}, transport.Config{})
				send(t, conn, m)
				receiveNothing(t, conn)
				notice := notification("notifications/cancelled")
				notice.ProtocolVersion = m.ProtocolVersion
				conn.Cancel(1, notice)
				select {
				case <-ended:
				case <-time.After(wait):
					t.Fatal("want the cancelled request's connection to end, got it open")
				}
				receiveNothing(t, conn)
			}
		})
	}
}
