package auth

import (
	"errors"
	"fmt"
	"strings"

	"github.com/mcpotel/mcpotel/mcpclient/auth/internal/metadata"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

var (
	// ErrNoInteraction is in the error of an authorization that needs a person when [Options.Interact] is nil.
	ErrNoInteraction = errors.New("a person has to authorize, and there is no Interaction to ask with")

	// ErrOtherResource is in the error when the MCP server says that it is another resource than the one at its URL. Of
	// one above that URL, [Options.Resource] takes its word.
	ErrOtherResource = metadata.ErrOtherResource

	// ErrClosed is in every error that comes of [Authorizer.Close].
	ErrClosed = errors.New("authorizer is closed")
)

// Step is a part of an authorization, by the name its span has.
type Step string

const (
	StepDiscoverResource Step = names.AuthDiscoverResource // metadata of the MCP server (RFC 9728)
	// metadata of the authorization server (RFC 8414, OpenID Connect Discovery)
	StepDiscoverServer Step = names.AuthDiscoverServer
	// dynamic client registration (RFC 7591), or the choice of credentials
	StepRegister  Step = names.AuthRegister
	StepAuthorize Step = names.AuthAuthorize // the person at the authorization server, and what comes back
	StepToken     Step = names.AuthToken     // a request for a new token
	StepRefresh   Step = names.AuthRefresh   // a request with a refresh token
	StepResource  Step = "resource"          // the MCP server's answer to a request; has no span of its own
)

// Error is every error of an [Authorizer]. It never holds a secret: what servers say is left out where it repeats one.
type Error struct {
	Step        Step
	Code        string // the OAuth error code, such as invalid_client; empty if no server gave one
	Description string // what the authorization server said about it; may be empty
	Status      int    // of the HTTP response; zero if there was none
	Err         error  // what happened; may be nil if Code says it

	permanent bool
}

// Error names the step, what happened, and what the server called it.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("authorization: ")
	b.WriteString(string(e.Step))
	if e.Err != nil {
		b.WriteString(": ")
		b.WriteString(e.Err.Error())
	}
	if e.Code != "" {
		b.WriteString(": ")
		b.WriteString(e.Code)
	}
	if e.Description != "" {
		fmt.Fprintf(&b, ": %q", e.Description)
	}
	if e.Status != 0 {
		fmt.Fprintf(&b, " (HTTP %d)", e.Status)
	}
	return b.String()
}

// Unwrap returns what happened.
func (e *Error) Unwrap() error { return e.Err }

// Permanent reports whether the next try will end the same way unless something is changed: it is false for
// trouble with the network, for answers such as HTTP 503 and for a caller that did not wait.
func (e *Error) Permanent() bool { return e.permanent }

// ErrorType returns a word of low cardinality for telemetry: a code of the OAuth specifications, or
// authorization_failed.
func (e *Error) ErrorType() string {
	if knownCodes[e.Code] {
		return e.Code
	}
	return "authorization_failed"
}

// knownCodes are the error codes of RFC 6749, 6750, 7591, 8693, 8707 and 9449, and of OpenID Connect for the person's
// part.
var knownCodes = map[string]bool{
	"access_denied": true, "consent_required": true, "insufficient_scope": true, "interaction_required": true,
	"invalid_client": true, "invalid_client_metadata": true, "invalid_dpop_proof": true, "invalid_grant": true,
	"invalid_redirect_uri": true, "invalid_request": true, "invalid_scope": true, "invalid_target": true,
	"invalid_token": true, "login_required": true, "server_error": true, "temporarily_unavailable": true,
	"unauthorized_client": true, "unsupported_grant_type": true, "unsupported_response_type": true, "use_dpop_nonce": true,
}

// refuse makes the permanent error of a step.
func refuse(step Step, format string, args ...any) *Error {
	return &Error{Step: step, Err: fmt.Errorf(format, args...), permanent: true}
}

// failed makes the error of a step of what a request or the caller's own code returned. Only an error that says that it
// is permanent is.
func failed(step Step, err error) *Error {
	type judge interface {
		error
		Permanent() bool
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	e := &Error{Step: step, Err: err, permanent: errors.Is(err, ErrNoInteraction)}
	if j, ok := errors.AsType[judge](err); ok {
		e.permanent = j.Permanent()
	}
	return e
}

// temporaryStatus reports whether a response with this status says nothing about the next one.
func temporaryStatus(status int) bool {
	return status >= 500 || status == 429 || status == 408
}

// answered makes the error of an OAuth error response (RFC 6749 §5.2). secrets are what must not be repeated.
func answered(step Step, code, description string, status int, secrets []string) *Error {
	e := &Error{
		Step: step, Code: quotable(code, 64, secrets), Description: quotable(description, 200, secrets), Status: status,
		permanent: !temporaryStatus(status) && code != "temporarily_unavailable" && code != "server_error",
	}
	if e.Code == "" {
		e.Err = errors.New("the authorization server refused")
	}
	return e
}

// quotable returns text cut to n bytes if it is what error and error_description may consist of (RFC 6749 §5.2) and
// holds no secret, and the empty string otherwise.
func quotable(text string, n int, secrets []string) string {
	for _, s := range secrets {
		if s != "" && strings.Contains(text, s) {
			return ""
		}
	}
	if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' || r == '"' || r == '\\' }) {
		return ""
	}
	return text[:min(n, len(text))]
}
