package bearer

import (
	"fmt"
	"log/slog"
	"net/http"
	"strings"
)

// refusal is the response to a request that Require does not pass.
type refusal struct {
	status int
	code   string // error code of RFC 6750 §3.1; empty if the client sent no token
	err    error  // error for the log; nil if the client sent no token
	scopes []string
}

func unknown(err error) *refusal {
	return &refusal{status: http.StatusServiceUnavailable, err: err}
}

func insufficient(needed, granted []string) *refusal {
	return &refusal{
		status: http.StatusForbidden,
		code:   "insufficient_scope",
		err:    fmt.Errorf("the token has the scopes %q", granted),
		scopes: needed,
	}
}

func (r *refusal) level() slog.Level {
	if r.status == http.StatusServiceUnavailable {
		return slog.LevelWarn
	}
	return slog.LevelDebug
}

func (r *refusal) reason() string {
	if r.err == nil {
		return "the request has no token"
	}
	return r.err.Error()
}

// write sends the refusal. The response has a challenge, unless the Verifier could not check the token. The client
// gets only the error code; the Verifier's error goes to the log.
func (r *refusal) write(w http.ResponseWriter, metadataURL string) {
	if r.status == http.StatusServiceUnavailable {
		http.Error(w, "the token cannot be verified now", r.status)
		return
	}
	challenge := "Bearer resource_metadata=" + quote(metadataURL)
	if len(r.scopes) > 0 {
		challenge += ", scope=" + quote(strings.Join(r.scopes, " "))
	}
	text := "authorization is required"
	if r.code != "" {
		challenge += ", error=" + quote(r.code)
		text = r.code
	}
	w.Header().Set("WWW-Authenticate", challenge)
	http.Error(w, text, r.status)
}

var quoter = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\r", "", "\n", "")

// quote returns a quoted string (RFC 9110 §5.6.4).
func quote(s string) string { return `"` + quoter.Replace(s) + `"` }
