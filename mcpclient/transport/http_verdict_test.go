package transport

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// verdicts lists all cases in which a refused request had no effect, or has a reason other than ReasonStatus. Any other
// combination is only an HTTP status and proves nothing.
var verdicts = []struct {
	to     addressee // anyone means any addressee
	status int
	needs  string // evidence that the response must have, at least one of the words; empty for none
	not    string // evidence that the response must not have
	why    RequestReason
	unsent bool
}{
	{theSession, 401, "unknown", "challenge", ReasonSessionGone, true},
	{theServed, 401, "unknown silent", "challenge", ReasonSessionGone, true},
	{anyone, 401, "", "", ReasonUnauthorized, true},
	{anyone, 403, "challenge failure", "", ReasonUnauthorized, true},
	{anyone, 403, "", "challenge failure", ReasonUnauthorized, false},
	{anyone, 429, "", "", ReasonBusy, true},
	{anyone, 503, "wait failure", "", ReasonBusy, true},
	{anyone, 503, "", "wait failure", ReasonBusy, false},
	{theSession, 404, "unknown", "", ReasonSessionGone, true},
	{theSession, 400, "unknown", "", ReasonSessionGone, true},
	{theServed, 404, "unknown", "", ReasonSessionGone, true},
	{theServed, 400, "unknown", "", ReasonSessionGone, true},
	{theOldServer, 404, "unknown", "", ReasonLost, true},
}

const anyone = addressee(255)

// TestVerdictForEveryStatus tests every status with all combinations of evidence and addressee.
func TestVerdictForEveryStatus(t *testing.T) {
	words := []string{"wait", "challenge", "failure", "silent", "unknown"}
	for status := 100; status < 600; status++ {
		for says := range 1 << len(words) {
			for _, to := range []addressee{theServer, theSession, theServed, theOldServer} {
				var heard []string
				for i, word := range words {
					if says>>i&1 == 1 {
						heard = append(heard, word)
					}
				}
				s := evidence{status, says&1 != 0, says&2 != 0, says&4 != 0, says&8 != 0, says&16 != 0}
				why, unsent := verdictOf(refused, to, s)
				wantWhy, wantUnsent := expected(to, status, heard)
				if why != wantWhy || unsent != wantUnsent {
					t.Errorf("%d to %d with evidence %v: got %v, unsent %v, want %v, %v", status, to, heard, why, unsent, wantWhy,
						wantUnsent)
				}
			}
		}
	}
}

func expected(to addressee, status int, heard []string) (RequestReason, bool) {
	says := func(words string) bool {
		for _, word := range heard {
			if strings.Contains(words, word) {
				return true
			}
		}
		return false
	}
	for _, v := range verdicts {
		if v.status == status && (v.to == anyone || v.to == to) && (v.needs == "" || says(v.needs)) && !says(v.not) {
			return v.why, v.unsent
		}
	}
	return ReasonStatus, false
}

// If there was no response, only the progress of the request decides.
func TestVerdictWithoutAResponse(t *testing.T) {
	for p, want := range map[phase]RequestError{
		unconnected: {Reason: ReasonUnreachable, Unsent: true},
		unwritten:   {Reason: ReasonLost, Unsent: true},
		turnedAway:  {Reason: ReasonBusy, Unsent: true},
		written:     {Reason: ReasonLost},
	} {
		for _, to := range []addressee{theServer, theSession, theOldServer} {
			why, unsent := verdictOf(p, to, evidence{status: 429, wait: true, challenge: true, failure: true, unknown: true})
			if why != want.Reason || unsent != want.Unsent {
				t.Errorf("phase %d: got %v, unsent %v, want %v, %v", p, why, unsent, want.Reason, want.Unsent)
			}
		}
	}
}

func TestOnlyBusyRequestsAreRepeatable(t *testing.T) {
	for reason := range ReasonMalformed + 2 {
		for _, unsent := range []bool{false, true} {
			for _, harmless := range []bool{false, true} {
				e := &RequestError{Reason: reason, Unsent: unsent}
				if want := reason == ReasonBusy && (unsent || harmless); e.Repeatable(harmless) != want {
					t.Errorf("%v, unsent %v, harmless %v: got %v, want %v", reason, unsent, harmless, !want, want)
				}
			}
		}
	}
}

// TestRefusalEvidenceIsParsed parses real responses.
func TestRefusalEvidenceIsParsed(t *testing.T) {
	rpc := func(id, code, message string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%s,"message":%q}}`, id, code, message)
	}
	for _, c := range []struct {
		status int
		header []string
		body   string
		want   evidence
	}{
		{503, nil, "", evidence{}},
		{503, []string{"Retry-After", "0"}, "", evidence{wait: true}},
		{503, []string{"Retry-After", "Wed, 21 Oct 2015 07:28:00 GMT"}, "<html>", evidence{wait: true}},
		{503, []string{"Retry-After", "soon"}, "", evidence{}},
		{503, []string{"Retry-After", ""}, "", evidence{}},
		{503, []string{"Retry-After", "-1"}, "", evidence{}},
		{503, []string{"Retry-After", "1.5"}, "", evidence{}},
		{503, nil, rpc("7", "-32603", "full"), evidence{failure: true}},
		{503, nil, `{"error":"full"}`, evidence{}},
		{503, nil, `{"jsonrpc":"2.0","id":7,"result":{}}`, evidence{}},
		{403, []string{"WWW-Authenticate", `Bearer error="insufficient_scope"`}, "", evidence{challenge: true}},

		{404, nil, "", evidence{unknown: true}},
		{404, nil, "404 page not found", evidence{unknown: true}},
		{404, nil, rpc("null", "-32001", "Session not found"), evidence{unknown: true, failure: true}},
		{404, nil, rpc("7", "-32601", "Method not found"), evidence{failure: true}},

		{401, nil, "Unauthorized: Session not found", evidence{unknown: true}},
		{401, nil, "Unauthorized", evidence{}},
		{401, []string{"WWW-Authenticate", "Bearer"}, "no session", evidence{unknown: true, challenge: true}},

		{400, nil, rpc("null", "-32000", "Bad Request: No valid session ID provided"),
			evidence{unknown: true, failure: true}},
		{400, nil, rpc("null", "-32000", "Bad Request: no valid session ID or not an initialize request"),
			evidence{unknown: true, failure: true}},
		{400, nil, `{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: Server not initialized"}}`,
			evidence{unknown: true, failure: true}},
		{400, nil, rpc("null", "-32000", "Bad Request: Invalid or expired session"), evidence{unknown: true, failure: true}},
		{400, nil, "Invalid session ID\n", evidence{unknown: true}},

		{400, nil, "", evidence{}},
		{400, nil, "Bad Request: No valid session ID provided", evidence{}},
		{400, nil, rpc("7", "-32000", "Bad Request: No valid session ID provided"), evidence{failure: true}},
		{400, nil, rpc("null", "-32602", "the session of the database is not valid"), evidence{failure: true}},
		{400, nil, rpc("null", "-32000", "too many sessions"), evidence{failure: true}},
		{400, nil, rpc("null", "-32000", "tool evidence: Bad Request: No valid session ID provided"),
			evidence{failure: true}},
		{400, nil, rpc("null", "-32000", "the device is not initialized"), evidence{failure: true}},
		{400, nil, "Invalid session ID: 7", evidence{}},
		{410, nil, "Invalid session ID", evidence{}},
	} {
		resp := &http.Response{StatusCode: c.status, Header: http.Header{}}
		for i := 0; i < len(c.header); i += 2 {
			resp.Header.Set(c.header[i], c.header[i+1])
		}
		c.want.status, c.want.silent = c.status, c.body == ""
		if got, _ := evidenceOf(resp, []byte(c.body)); got != c.want {
			t.Errorf("%d %q %q: got %+v, want %+v", c.status, c.header, c.body, got, c.want)
		}
	}
}

// Texts that contain parts from the peer are not mistaken for errors of net/http itself.
func TestHTTP2ErrorsOfUnprocessedRequests(t *testing.T) {
	for text, want := range map[string]bool{
		"http2: Transport: cannot retry err [http2: Transport received Server's graceful shutdown GOAWAY] after " +
			"Request.Body was written; define": true,
		"http2: Transport: cannot retry err [stream error: stream ID 3; REFUSED_STREAM; received from peer] after " +
			"Request.Body was written; define": true,
		"http2: Transport: cannot retry err [stream error: stream ID 3; PROTOCOL_ERROR; received from peer] after " +
			"Request.Body was written; define": false,
		"stream error: stream ID 3; REFUSED_STREAM; received from peer": false,
		`http2: server sent GOAWAY and closed the connection; LastStreamID=3, ErrCode=NO_ERROR, debug="REFUSED_STREAM; ` +
			`received from peer]"`: false,
		"http2: Transport: cannot retry err [stream error: stream ID 3; CANCEL; REFUSED_STREAM; received from peer] after " +
			"Request.Body was written": false,
		"EOF": false,
	} {
		if got := isTurnedAway(errors.New(text)); got != want {
			t.Errorf("%s: got %v, want %v", text, got, want)
		}
	}
}
