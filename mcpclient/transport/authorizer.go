package transport

import "net/http"

// Authorizer adds credentials to the requests of [HTTP] and handles refusals. Its methods may be called from any
// goroutine. Package [github.com/mcpotel/mcpotel/mcpclient/auth] implements the authorization of the
// specification.
type Authorizer interface {
	// Authorize adds credentials, if it has any, to a request that is about to be sent. It may wait for a token
	// refresh within the context of the request. If it returns an error, the request fails unsent.
	Authorize(req *http.Request) error

	// Review is called with every response, before the body is read; Review must not touch the body. attempt counts the
	// times that the message was sent, from 1. For HTTP 401 or 403, Review obtains new credentials, within the context of
	// the response's request, and reports whether to send the message again. An error of Review means that another attempt
	// is useless, for now or permanently (see [Permanent]). For all other responses Review returns false and nil. After a
	// 403 without WWW-Authenticate the message is never sent again, because a proxy may have sent the 403 after the server
	// has acted.
	Review(resp *http.Response, attempt int) (again bool, err error)
}
