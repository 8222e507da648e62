package auth

import (
	"errors"
	"fmt"
	"strings"

	"github.com/mcpotel/mcpotel/mcpclient/auth/internal/metadata"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

var (
	// ErrNoInteraction is wrapped by the error of an authorization that needs a person while [Options.Interact] is nil.
	ErrNoInteraction = errors.New("a person must authorize, and Options.Interact is nil")

	// ErrOtherResource is wrapped by the error for metadata that name a resource other than the MCP server's URL.
	// [Options.Resource] allows a resource above that URL.
	ErrOtherResource = metadata.ErrOtherResource

	// ErrClosed is wrapped by all errors that [Authorizer.Close] causes.
	ErrClosed = errors.New("authorizer is closed")
)

// Step is a step of an authorization. Its value is the name of the step's span.
type Step string

const (
	StepDiscoverResource Step = names.AuthDiscoverResource // metadata of the MCP server (RFC 9728)
	// StepDiscoverServer gets the metadata of the authorization server (RFC 8414, OpenID Connect Discovery).
	StepDiscoverServer Step = names.AuthDiscoverServer
	// StepRegister registers the client dynamically (RFC 7591) or chooses its credentials.
	StepRegister  Step = names.AuthRegister
	StepAuthorize Step = names.AuthAuthorize // the authorization by a person, including the redirect
	StepToken     Step = names.AuthToken     // request for a new token
	StepRefresh   Step = names.AuthRefresh   // request with a refresh token
	StepResource  Step = "resource"          // the MCP server's answer to a request; without a span
)

// Error is the type of all errors of an [Authorizer]. It contains no secret: text from servers is omitted where it
// repeats one.
type Error struct {
	Step        Step
	Code        string // OAuth error code, such as invalid_client; empty if no server sent a code
	Description string // error_description of the authorization server; may be empty
	Status      int    // HTTP status; zero if there was no response
	Err         error  // cause; may be nil if Code is set

	permanent bool
}

// Error returns the step, the cause, and the server's code and description.
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

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Permanent reports whether a retry fails in the same way unless something changes. It returns false for network
// failures, for answers such as HTTP 503, and if the caller stopped waiting.
func (e *Error) Permanent() bool { return e.permanent }

// ErrorType returns a value of low cardinality for telemetry: a code of the OAuth specifications, or
// authorization_failed.
func (e *Error) ErrorType() string {
	if knownCodes[e.Code] {
		return e.Code
	}
	return "authorization_failed"
}

// knownCodes lists the error codes of RFC 6749, 6750, 7591, 8693, 8707 and 9449, and of OpenID Connect for
// authorization requests.
var knownCodes = map[string]bool{
	"access_denied": true, "consent_required": true, "insufficient_scope": true, "interaction_required": true,
	"invalid_client": true, "invalid_client_metadata": true, "invalid_dpop_proof": true, "invalid_grant": true,
	"invalid_redirect_uri": true, "invalid_request": true, "invalid_scope": true, "invalid_target": true,
	"invalid_token": true, "login_required": true, "server_error": true, "temporarily_unavailable": true,
	"unauthorized_client": true, "unsupported_grant_type": true, "unsupported_response_type": true, "use_dpop_nonce": true,
}

// refuse returns a permanent error of a step.
func refuse(step Step, format string, args ...any) *Error {
	return &Error{Step: step, Err: fmt.Errorf(format, args...), permanent: true}
}

// failed wraps an error of a request or of user code as an error of step. The result is permanent only if err is
// ErrNoInteraction or has a method Permanent that returns true.
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

// temporaryStatus reports whether a retry may succeed after a response with this status.
func temporaryStatus(status int) bool {
	return status >= 500 || status == 429 || status == 408
}

// answered returns the error for an OAuth error response (RFC 6749 §5.2). The error repeats none of the secrets.
func answered(step Step, code, description string, status int, secrets []string) *Error {
	e := &Error{
		Step: step, Code: quotable(code, 64, secrets), Description: quotable(description, 200, secrets), Status: status,
		permanent: !temporaryStatus(status) && code != "temporarily_unavailable" && code != "server_error",
	}
	if e.Code == "" {
		e.Err = errors.New("the authorization server refused the request")
	}
	return e
}

// quotable returns the first n bytes of text. It returns the empty string if text contains a secret, or characters
// that are invalid in error and error_description (RFC 6749 §5.2).
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
