package transport

import (
	"maps"
	"net/http"
)

// keptFields is how many fields a header may have had to be kept from one exchange to the next.
const keptFields = 32

// A header that has fields of its own, as those of traced calls have, is a copy of the usual one. A worker keeps it
// from one exchange to the next, where only net/http sees it. A RoundTripper lets go of a request when the body of its
// response is closed, says its documentation; but net/http still writes the header if the server has answered before it
// came. So it is used again only if net/http has said that it is written.
// A sampled call allocates two objects and 0.4 KiB less for that.

// borrow takes the header that the worker has, if it has one.
func (ex *exchange) borrow(w *worker) { ex.own, w.header = w.header, nil }

// twin returns a copy of the usual header. The first one is made of what was borrowed.
func (ex *exchange) twin() http.Header {
	if ex.own == nil || len(ex.own) > 0 { // that of the request before
		ex.own = maps.Clone(ex.usual)
	} else {
		maps.Copy(ex.own, ex.usual)
	}
	return ex.own
}

// giveBack has the worker keep the header, after the body of the response was closed.
func (ex *exchange) giveBack(w *worker) {
	if len(ex.own) > 0 && !ex.reach.headerWritten() || len(ex.own) > keptFields {
		return
	}
	clear(ex.own) // holds on to no exchange
	w.header = ex.own
}
