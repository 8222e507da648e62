package mcpclient

import (
	"time"

	"github.com/mcpotel/mcpotel/mcp"
)

// CallOption changes one call.
type CallOption func(*call)

// WithTimeout bounds the call: waiting for readiness, send retries and handlers of progress included. A call that the server
// answers by asking for input has the time anew for each of its requests, and a person any time. Zero means
// [Options.RequestTimeout], negative means none.
func WithTimeout(d time.Duration) CallOption { return func(cl *call) { cl.timeout = d } }

// WithMeta adds members to the request's _meta. What the protocol and the tracing put there comes first.
func WithMeta(m mcp.Meta) CallOption { return func(cl *call) { cl.meta = m } }

// WaitForReady lets the call wait until the client is ready, within its timeout. Without it a call on a client that is
// not ready fails at once with [ErrNotReady].
func WaitForReady() CallOption { return func(cl *call) { cl.wait = true } }

// WithoutCache asks the server even if the client keeps a result that is fresh, see [Options.NoCache]. The new result takes
// the place of the old one.
func WithoutCache() CallOption { return func(cl *call) { cl.refresh = true } }
