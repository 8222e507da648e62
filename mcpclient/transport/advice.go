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

// reworded replaces the text of an error and keeps its chain.
type reworded struct {
	text string
	error
}

func (e reworded) Error() string { return e.text }
func (e reworded) Unwrap() error { return e.error }

// notReached returns the error for a failed connection to host. The text of the error leaves out the intermediate steps
// that net/http reports.
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
		text += "; check that the server is running, and listens on this port"
	case errors.Is(err, http.ErrSchemeMismatch):
		text = "the server speaks plain HTTP there; use http:// in the URL"
	}
	return reworded{"cannot connect to " + host + ": " + text, err}
}

// advice returns a hint for the user of the client, or "". It hints at credentials after HTTP 401, and at a wrong URL
// if the response does not come from an MCP endpoint.
func (e *RequestError) advice() string {
	const endpoint = "; check that this is the URL of the MCP endpoint, which often ends in /mcp"
	switch {
	case e.Reason == ReasonSessionGone:
		return ""
	case e.Status == http.StatusUnauthorized && !e.judged() && e.MayBeSession():
		return "; the server has answered the handshake without other credentials, so it may have forgotten the session. " +
			credentials
	case e.Status == http.StatusUnauthorized && !e.judged():
		return "; " + credentials
	case e.found:
		return ""
	case e.Reason == ReasonMalformed && e.Status != 0:
		return endpoint
	case e.Reason == ReasonStatus && (e.Status == http.StatusNotFound || e.Status == http.StatusMethodNotAllowed):
		return endpoint
	}
	return ""
}

const credentials = "set credentials with HTTP.Authorizer or HTTP.Header"

// MayBeSession reports whether the server may have refused a request with 401 because it has forgotten the session. It
// may have, if it answered the handshake and the refusal has no challenge.
func (e *RequestError) MayBeSession() bool {
	return e.Status == http.StatusUnauthorized && e.found && !e.challenge
}

// judged reports whether the error of the Authorizer decides whether the failure is permanent.
func (e *RequestError) judged() bool {
	_, ok := errors.AsType[interface {
		error
		Permanent() bool
	}](e.Err)
	return ok
}

// notStarted returns the error for a program that could not be started.
func (s Stdio) notStarted(err error) error {
	text := err.Error()
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		text = e.Path + ": " + e.Err.Error()
	}
	if s.Dir != "" {
		if _, missing := os.Stat(s.Dir); missing != nil { // the system's error does not name the directory
			text = "its working directory: " + missing.Error()
		}
	}
	if e, ok := errors.AsType[*exec.Error](err); ok {
		text = e.Name + ": " + e.Err.Error()
	}
	if errors.Is(err, exec.ErrNotFound) {
		text += "; install it, or give its full path"
	}
	return reworded{"the server cannot be started: " + text, err}
}
