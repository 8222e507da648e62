package metadata

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// ErrNotFound is in the error when every place where a document could be answered that it is not there: with a status
// of 4xx, or with something that is not a JSON object, like the page some servers have for every path.
var ErrNotFound = errors.New("there is no metadata")

// ErrOtherResource is in the error when a document is about another resource than the MCP server.
var ErrOtherResource = errors.New("it is not about this server")

// Error says what went wrong where. All methods of [Fetcher] return errors of this type.
type Error struct {
	URL    string // what was asked for, without query; of several places the one that matters most
	Status int    // of the HTTP response; 0 if there was none, or none that could be read to its end
	Err    error  // never nil
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %v", e.URL, e.Err) }

func (e *Error) Unwrap() error { return e.Err }

// Permanent reports whether the same question will get the same answer: false if nothing answered or if the server was
// busy or broken.
func (e *Error) Permanent() bool {
	return e.Status != 0 && !passes(e.Status) || errors.Is(e.Err, ErrRefused) || errors.Is(e.Err, ErrNotFound) ||
		errors.Is(e.Err, errInvalid)
}

// errInvalid is in the error when there is a document that must not be used.
var errInvalid = errors.New("invalid metadata")

// errAbsent is in the error when one place has no document.
var errAbsent = errors.New("no metadata")

func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errInvalid, fmt.Sprintf(format, args...))
}

// passes reports whether a status can be another one the next time.
func passes(status int) bool {
	return status >= 500 || status == http.StatusTooManyRequests || status == http.StatusRequestTimeout
}

// statusError judges a response that is no 200.
func statusError(status int) error {
	if 400 <= status && status < 500 && !passes(status) {
		return fmt.Errorf("%w: HTTP status %d", errAbsent, status)
	}
	return fmt.Errorf("HTTP status %d", status)
}

// unreachable makes an Error of what http.Client returned, without the query that its own text would have.
func unreachable(u *url.URL, err error) *Error {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err
	}
	return &Error{URL: bare(u), Err: err}
}

// verdict is the error of places that all failed: the first one that can pass, else the first one that says more than
// that there is nothing, else that there is nothing.
func verdict(failed []*Error) *Error {
	var telling *Error
	var places []string
	for _, e := range failed {
		absent := errors.Is(e, errAbsent)
		if !absent && !e.Permanent() {
			return e
		}
		if !absent {
			telling = cmp.Or(telling, e)
		}
		places = append(places, e.Error())
	}
	if telling != nil {
		return telling
	}
	return &Error{
		URL:    failed[0].URL,
		Status: failed[0].Status,
		Err:    fmt.Errorf("%w: %s", ErrNotFound, strings.Join(places, "; ")),
	}
}

// bare returns a URL for an error: without user information, query and fragment.
func bare(u *url.URL) string {
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}).String()
}
