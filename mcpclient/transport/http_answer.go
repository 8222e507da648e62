package transport

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/mcpotel/mcpotel/internal/hostname"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/internal/oversize"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

const (
	errorBody = 1 << 20 // bytes of an error response that are searched for a JSON-RPC message
	excerptOf = 200     // bytes of any other body that an error quotes
)

// postTo posts the message to a URL and handles the response. shared means HTTP+SSE: the answer arrives on the shared
// stream, and not in the response.
func (ex *exchange) postTo(w *worker, to *url.URL, shared bool) {
	c := ex.conn
	if ex.watched == nil {
		ex.watched = ex.reach.watch(ex.ctx, &c.requests.connected)
	}
	resp, failure := c.requests.roundTrip(outgoing{
		ctx: ex.watched, method: http.MethodPost, to: to, body: ex.m.Data, header: ex, reach: &ex.reach,
	})
	if failure != nil {
		ex.fail(failure)
		return
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode/100 != 2:
		ex.refused(w, resp, shared)
	case shared || ex.m.Kind != KindRequest:
		ex.accepted(w, resp)
	default:
		ex.answered(w, resp)
	}
}

// accepted handles a successful response that need not contain an answer. If it contains a message anyway, the
// message is delivered.
func (ex *exchange) accepted(w *worker, resp *http.Response) {
	if ex.initialized {
		ex.conn.listen(ex.session, ex.errand.tries > 0, ex.errand.open)
		ex.errand.open = nil
	}
	if !isType(resp, "application/json") || resp.ContentLength == 0 {
		discard(resp)
		return
	}
	if data, err := ex.conn.bound.readBody(w, resp); err == nil {
		if _, err := jsonrpc.Parse(data); err == nil {
			ex.deliver(Frame{Data: data, Request: ex.m.ID})
		}
	}
}

// answered handles a successful response to a request.
func (ex *exchange) answered(w *worker, resp *http.Response) {
	if ex.initialize && !ex.startSession(resp) {
		ex.malformed(resp, errors.New("the session id is not visible ASCII"))
		return
	}
	if ex.sessionID != "" {
		ex.session.served.Store(true)
	}
	coding := resp.Header.Get("Content-Encoding")
	switch {
	case coding != "" && !strings.EqualFold(coding, "identity"):
		discard(resp)
		ex.malformed(resp, fmt.Errorf("the answer has the content encoding %q, but the client accepts only gzip",
			clip(coding)))
	case isType(resp, eventsOnly):
		ex.follow(w, resp)
	case resp.StatusCode == http.StatusNoContent || resp.ContentLength == 0:
		ex.malformed(resp, errors.New("the answer is empty"))
	case isType(resp, "application/json") || resp.Header.Get("Content-Type") == "":
		ex.answeredJSON(w, resp)
	default:
		form, text := clip(resp.Header.Get("Content-Type")), excerpt(resp.Request, bodyOf(resp, excerptOf))
		ex.malformed(resp, fmt.Errorf("the answer has content type %q: %s", form, text))
	}
}

// startSession stores the session id from the response to initialize. It reports false if the id is invalid.
func (ex *exchange) startSession(resp *http.Response) bool {
	id := resp.Header.Get("Mcp-Session-Id")
	if id == "" {
		return true
	}
	c := ex.conn
	c.mu.Lock()
	defer c.mu.Unlock()
	if sessionID(id) {
		ex.session.id = id
	}
	return ex.session.id == id
}

// answeredJSON handles a response whose body is one JSON text.
func (ex *exchange) answeredJSON(w *worker, resp *http.Response) {
	data, err := ex.conn.bound.readBody(w, resp)
	tooLarge, isTooLarge := errors.AsType[*oversize.Error](err)
	switch {
	case isTooLarge:
		ex.tooLarge(tooLarge)
	case err != nil:
		ex.fail(&RequestError{Reason: ReasonLost, Status: resp.StatusCode, Err: err})
	case len(data) == 0:
		ex.malformed(resp, errors.New("the answer is empty"))
	default:
		if ex.deliverWhole(data) {
			ex.malformed(resp, errors.New("the answer does not belong to this request"))
		}
	}
}

// refused handles a response with a status other than 2xx.
func (ex *exchange) refused(w *worker, resp *http.Response, shared bool) {
	body := bodyOf(resp, errorBody)
	if ex.initialize && !shared && ex.conn.old.mayBe(resp.StatusCode, body) {
		if endpoint, failure := ex.conn.old.open(ex, endpointWait); failure == nil {
			_ = resp.Body.Close() // before the next response, which replaces this one in reach
			ex.postTo(w, endpoint, true)
			return
		} else if failure.Reason == ReasonMalformed {
			ex.fail(failure)
			return
		}
	}
	to := theServer
	switch {
	case shared:
		to = theOldServer
	case ex.sessionID == "":
	case ex.session.served.Load() && ex.conn.h.Authorizer == nil: // an Authorizer may have changed the credentials since
		to = theServed
	default:
		to = theSession
	}
	failure := refusal(resp, to, body)
	if failure.Reason == ReasonStatus && isAnswer(body) && !ex.deliverWhole(body) {
		return
	}
	ex.fail(failure)
	if to == theOldServer && failure.Reason == ReasonLost {
		ex.conn.fail(fmt.Errorf("the server no longer knows its own endpoint: %w", failure))
	}
}

// refusal returns the error for a response with a status other than 2xx.
func refusal(resp *http.Response, to addressee, body []byte) *RequestError {
	says, wait := evidenceOf(resp, body)
	e := &RequestError{Status: resp.StatusCode, RetryAfter: wait}
	e.Reason, e.Unsent = verdictOf(refused, to, says)
	e.challenge = says.challenge
	if m, err := jsonrpc.Parse(body); err == nil && m.Kind == jsonrpc.Error {
		failure, _ := m.Failure() // a partly valid error is used too
		body = []byte(failure.Message)
	}
	if len(body) > 0 {
		e.Err = errors.New(excerpt(resp.Request, body))
	}
	if location, err := resp.Location(); resp.StatusCode/100 == 3 && err == nil {
		e.Err = notFollowed(resp.Request.URL, location)
	}
	return e
}

// notFollowed returns the error for a redirect, which the client does not follow because it might send its
// credentials to another server. For another origin the error names only the origin, not the path.
func notFollowed(from, to *url.URL) error {
	place, advice := to.Scheme+"://"+to.Host, ""
	if hostname.SameOrigin(to, from) && to.Path != from.Path {
		place, advice = place+to.EscapedPath(), "; if that is the MCP endpoint, use it as the URL"
	}
	return fmt.Errorf("a redirect to %q is not followed%s", clip(place), advice)
}

// deliverWhole delivers data, the complete body of a response. It returns true if the request still has no answer.
func (ex *exchange) deliverWhole(data []byte) bool {
	f := Frame{Data: data, Request: ex.m.ID}
	if ex.offer(f) {
		return false
	}
	complete := answers(data, ex.m.ID)
	return ex.deliver(f) && !complete
}

// offer passes f, the first frame of the response, directly to the sender's callback, and reports whether the
// callback accepted it.
func (ex *exchange) offer(f Frame) bool {
	return ex.answer != nil && ex.ctx.Err() == nil && !ex.conn.isOver() && ex.answer(f)
}

// malformed fails the request because the response is not a valid answer.
func (ex *exchange) malformed(resp *http.Response, err error) {
	ex.fail(&RequestError{Reason: ReasonMalformed, Status: resp.StatusCode, Err: err})
}

// tooLarge handles an answer above the frame limit: with Config.SkipOversize it fails the request, otherwise
// the connection.
func (ex *exchange) tooLarge(e *oversize.Error) {
	if ex.conn.bound.skip {
		ex.fail(skipped(e))
		return
	}
	ex.conn.fail(endedBy(e))
}

// fail reports that the message gets no answer. For a notification or a response, it delivers the error only if
// the session is gone, which concerns other messages too; otherwise it writes a log record.
func (ex *exchange) fail(e *RequestError) {
	c := ex.conn
	e.found = ex.m.Method != methodDiscover && !ex.initialize
	if ex.errand != nil && ex.errand.needed && passing(e) {
		ex.errand.failed = e
	}
	// Decide this before the failure is delivered: the receiver's reaction must not change the result.
	over := e.Reason == ReasonUnreachable && ex.ctx.Err() == nil && c.requests.missed(true) && !c.old.isInUse()
	if ex.m.Kind == KindRequest || e.Reason == ReasonSessionGone {
		if !ex.deliver(Frame{Request: ex.m.ID, Err: e}) {
			c.failRecalled(ex, e)
		}
	} else if ex.ctx.Err() == nil && ex.errand.tries == 0 {
		about := []slog.Attr{
			slog.String(names.KeyMCPClientMessageKind, ex.m.Kind.String()), slog.String(names.KeyExceptionMessage,
				withoutBody(e)),
		}
		if ex.m.Method != "" {
			about = append(about, slog.String(names.KeyMCPMethodName, ex.m.Method))
		}
		record(c.logger, names.EventMCPClientMessageRefused, about...)
	}
	if over {
		c.fail(e.Err)
	}
}

// deliver passes a frame to Receive and reports whether Receive accepted it.
func (ex *exchange) deliver(f Frame) bool { return ex.conn.inbox.deliver(ex.ctx, ex.session, f) }

// bodyOf returns the body of a response, up to a limit and up to the first read error.
func bodyOf(resp *http.Response, limit int64) []byte {
	data, _ := io.ReadAll(io.LimitReader(resp.Body, limit)) // a partial body is good enough
	return data
}

// excerpt quotes the beginning of the body for an error. It quotes nothing if the body repeats a possible secret of
// req.
func excerpt(req *http.Request, body []byte) string {
	for _, s := range secretsOf(req) {
		if bytes.Contains(body, []byte(s[:min(len(s), leastSecret)])) {
			return "(an answer that repeats a secret of the request)"
		}
	}
	text := strings.Join(strings.Fields(string(body[:min(len(body), 4*excerptOf)])), " ")
	return strconv.Quote(clip(text))
}

// leastSecret is the minimum length of a secret. Only the first leastSecret bytes of a secret are searched for, because
// the body may be cut off in the middle of the secret.
const leastSecret = 8

// secretsOf returns the possible secrets of a request: the password and the query values of its URL, and the values of
// the header fields that the user or the authorizer has set.
func secretsOf(req *http.Request) (secrets []string) {
	add := func(values ...string) {
		for _, v := range values {
			if len(v) >= leastSecret {
				secrets = append(secrets, v)
			}
		}
	}
	password, _ := req.URL.User.Password()
	add(password)
	for _, values := range req.URL.Query() {
		add(values...)
	}
	for name, values := range req.Header {
		switch name {
		case "Accept", "Accept-Language", "Content-Type", "Traceparent", "Tracestate", "Baggage", "User-Agent":
			continue
		}
		if strings.HasPrefix(name, "Mcp-") {
			continue
		}
		for _, v := range values {
			add(strings.Fields(v)...)
		}
	}
	return secrets
}

// clip shortens a text that is too long for an error.
func clip(text string) string {
	if len(text) <= excerptOf {
		return text
	}
	return strings.ToValidUTF8(text[:excerptOf], "") + "…"
}
