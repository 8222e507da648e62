package metadata

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// ErrNotFound is wrapped by the error for a document that no location has. Each location answered with a 4xx status or
// with something other than a JSON object, such as the HTML page that some servers return for every path.
var ErrNotFound = errors.New("metadata not found")

// ErrOtherResource is wrapped by the error for a document about a resource other than the MCP server.
var ErrOtherResource = errors.New("metadata is about another resource")

// Error is the type of all errors of [Fetcher].
type Error struct {
	URL    string // URL of the request without its query; if several locations were tried, the URL of the decisive error
	Status int    // HTTP status; 0 if there was no response or its body could not be read completely
	Err    error  // never nil
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %v", e.URL, e.Err) }

func (e *Error) Unwrap() error { return e.Err }

// Permanent reports whether a retry would fail in the same way. It returns false if there was no response or if the
// server was overloaded or failed.
func (e *Error) Permanent() bool {
	return e.Status != 0 && !temporaryStatus(e.Status) || errors.Is(e.Err, ErrRefused) || errors.Is(e.Err, ErrNotFound) ||
		errors.Is(e.Err, errInvalid)
}

// errInvalid is wrapped by the error for a document that must not be used.
var errInvalid = errors.New("invalid metadata")

// errAbsent is wrapped by the error for one location without a document.
var errAbsent = errors.New("no metadata")

func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errInvalid, fmt.Sprintf(format, args...))
}

// temporaryStatus reports whether a retry may return another status.
func temporaryStatus(status int) bool {
	return status >= 500 || status == http.StatusTooManyRequests || status == http.StatusRequestTimeout
}

// statusError returns the error for a response with a status other than 200.
func statusError(status int) error {
	if 400 <= status && status < 500 && !temporaryStatus(status) {
		return fmt.Errorf("%w: HTTP status %d", errAbsent, status)
	}
	return fmt.Errorf("HTTP status %d", status)
}

// unreachable returns an Error for an error of http.Client. It leaves out the client's own text, which contains the
// query.
func unreachable(u *url.URL, err error) *Error {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err
	}
	return &Error{URL: bare(u), Err: err}
}

// combine returns the error for the case that all locations failed. It prefers a temporary error, then an error other
// than a missing document, then ErrNotFound.
func combine(failed []*Error) *Error {
	var definite *Error
	var places []string
	for _, e := range failed {
		absent := errors.Is(e, errAbsent)
		if !absent && !e.Permanent() {
			return e
		}
		if !absent {
			definite = cmp.Or(definite, e)
		}
		places = append(places, e.Error())
	}
	if definite != nil {
		return definite
	}
	return &Error{
		URL:    failed[0].URL,
		Status: failed[0].Status,
		Err:    fmt.Errorf("%w: %s", ErrNotFound, strings.Join(places, "; ")),
	}
}

// bare returns the URL for use in an error: without user information, query and fragment.
func bare(u *url.URL) string {
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}).String()
}
