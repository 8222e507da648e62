package transport

import "net/http"

// Authorizer adds credentials to the requests of [HTTP] and deals with what servers answer. Its methods may be called
// from any goroutine. Package [github.com/mcpotel/mcpotel/mcpclient/auth] has the one of the specification.
type Authorizer interface {
	// Authorize adds credentials to a request that is about to be sent, if it has any. It may wait for a token that is
	// being refreshed, within the request's context. An error fails the request unsent.
	Authorize(req *http.Request) error

	// Review is told of every response before its body is read, which it must not touch. attempt counts from 1 how often
	// this message has been sent. For a refusal, HTTP 401 or 403, it gets what is needed, within the context of the
	// response's request, and reports whether the message is to be sent again; an error says why that is of no use, and
	// whether for good (see [Permanent]). For all other responses it returns false and nil. The message is not sent again
	// after a 403 without WWW-Authenticate, which a proxy may give for what the server has done.
	Review(resp *http.Response, attempt int) (again bool, err error)
}
