package transport

import (
	"errors"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"syscall"
)

// reworded is an error in other words than its own.
type reworded struct {
	text string
	error
}

func (e reworded) Error() string { return e.text }
func (e reworded) Unwrap() error { return e.error }

// notReached is why no connection to a host could be made, without the steps that led there.
func notReached(host string, err error) error {
	text := err.Error()
	if e, ok := errors.AsType[*net.OpError](err); ok && e.Err != nil {
		text = e.Err.Error()
	}
	if e, ok := errors.AsType[*os.SyscallError](err); ok {
		text = e.Err.Error()
	}
	if e, ok := errors.AsType[*net.DNSError](err); ok {
		text = e.Err
	}
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		text += "; is the server running, and is this its port?"
	case errors.Is(err, http.ErrSchemeMismatch):
		text = "the server speaks plain HTTP there; use http:// in the URL"
	}
	return reworded{"cannot connect to " + host + ": " + text, err}
}

// advice is what to do about a response that is no answer of an MCP server, empty for nothing in particular.
func (e *RequestError) advice() string {
	const endpoint = "; is this the URL of the MCP endpoint? It often ends in /mcp"
	switch {
	case e.Reason == SessionGone:
		return ""
	case e.Status == http.StatusUnauthorized && !e.judged() && e.MayBeSession():
		return "; the server has answered the handshake without other credentials, so it may have forgotten the session. " +
			credentials
	case e.Status == http.StatusUnauthorized && !e.judged():
		return "; " + credentials
	case e.found:
		return ""
	case e.Reason == Malformed && e.Status != 0:
		return endpoint
	case e.Reason == Status && (e.Status == http.StatusNotFound || e.Status == http.StatusMethodNotAllowed):
		return endpoint
	}
	return ""
}

const credentials = "HTTP.Authorizer or a field of HTTP.Header gives credentials"

// MayBeSession reports whether a server that refuses a request with 401 may have forgotten the session: it has answered
// the handshake, and does not say which authorization it wants.
func (e *RequestError) MayBeSession() bool {
	return e.Status == http.StatusUnauthorized && e.found && !e.challenge
}

// judged reports whether an Authorizer has said that it cannot get what the server wants.
func (e *RequestError) judged() bool {
	_, ok := errors.AsType[interface {
		error
		Permanent() bool
	}](e.Err)
	return ok
}

// notStarted is why a program could not be started.
func (s Stdio) notStarted(err error) error {
	text := err.Error()
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		text = e.Path + ": " + e.Err.Error()
	}
	if s.Dir != "" {
		if _, missing := os.Stat(s.Dir); missing != nil { // which the error of the system does not tell
			text = "its working directory: " + missing.Error()
		}
	}
	if e, ok := errors.AsType[*exec.Error](err); ok {
		text = e.Name + ": " + e.Err.Error()
	}
	if errors.Is(err, exec.ErrNotFound) {
		text += "; install it, or name it with its path"
	}
	return reworded{"the server cannot be started: " + text, err}
}
