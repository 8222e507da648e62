package mcpclient

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"

	"github.com/mcpotel/mcpotel/internal/clientinput"
	"github.com/mcpotel/mcpotel/internal/hostname"
	"github.com/mcpotel/mcpotel/mcp"
)

// URLElicitation is a page in the web that the server wants the user to visit, for something that must not pass through
// the client: a secret, a payment, the authorization of a third party.
type URLElicitation struct {
	Message string // for the user: why
	ID      string // of a server of 2025-11-25; empty later

	// URL is of scheme https, or http on this machine, with a host and without a user name. The whole of it is for the
	// user to see before anything is opened, its Hostname so that it stands out.
	URL *url.URL

	// Warning says what makes the host look like something that it may not be, empty for nothing. It is for the user to
	// see with the URL.
	Warning string

	visit *urlVisit
}

// Complete says that the user is done at the URL, as the server may do by a notification: a call that waits for that
// goes on. It is for a button that does not depend on the server's word. It may be called at any time, more than once.
func (e *URLElicitation) Complete() {
	if e.visit != nil {
		e.visit.complete()
	}
}

// URLElicitationHandler asks the user for consent to visit a URL and, given that, has it opened, without waiting for
// what happens there: accept means that the user went, not that the user is done. The URL must not be fetched, not even
// in part, and must be opened where neither this program nor a model sees what the user does: in the user's browser. An
// empty action means that the user said nothing.
// (specification 2026-07-28, client/elicitation, "Safe URL Handling")
type URLElicitationHandler func(ctx context.Context, e *URLElicitation) (mcp.ElicitAction, error)

// HandleURLElicitation declares that the client can send its user to URLs, and lets h do so: for elicitation/create of
// a legacy server, and for what a modern one needs before it can answer a call. A URL that is not safe to show is
// refused without h. o may be nil. (specification 2026-07-28, client/elicitation, "URL Mode")
func HandleURLElicitation(h URLElicitationHandler, o *URLElicitationOptions) Feature {
	return feature{
		declare: declareElicitation(func(e *mcp.ElicitationCapability) { e.URL = mcp.Object{} }),
		join: func(c *Client) error {
			if h == nil {
				return handleElicitation(c, mcp.ElicitURL, nil)
			}
			c.urls = newURLVisits(h, o)
			if c.urls.Completed != nil {
				c.dispatcher.add(&hearing{method: mcp.NotificationElicitationComplete, handle: c.urls.tell})
			}
			return handleElicitation(c, mcp.ElicitURL, c.urls.elicit)
		},
	}
}

// elicit asks the handler to send the user to the URL of p.
func (v *urlVisits) elicit(ctx context.Context, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
	e, err := newURLElicitation(p)
	if err != nil {
		return nil, invalidParams("%w", err)
	}
	v.open(e)
	action, err := v.handler(ctx, e)
	if err == nil && action == mcp.ElicitAccept {
		v.begun(e.visit)
	} else {
		v.forget(e.visit)
	}
	switch {
	case err != nil:
		return nil, err
	case action == "":
		action = mcp.ElicitCancel
	}
	return &mcp.ElicitResult{Action: action}, nil
}

// newURLElicitation returns what p asks for, if its URL is one to show to a user.
func newURLElicitation(p *mcp.ElicitParams) (*URLElicitation, error) {
	if err := clientinput.CheckVisitSize(p); err != nil {
		return nil, err
	}
	u, err := url.Parse(p.URL)
	if err != nil {
		return nil, errors.New("url is none")
	}
	if err := clientinput.CheckVisit(u); err != nil {
		return nil, fmt.Errorf("url %w", err)
	}
	u.RawQuery = escapeBeyondASCII(u.RawQuery) // the one part that String returns as it came
	return &URLElicitation{Message: p.Message, ID: p.ElicitationID, URL: u, Warning: warningAbout(u.Hostname())}, nil
}

// warningAbout says what a user should know who sees the name of a host.
func warningAbout(host string) string {
	_, err := netip.ParseAddr(host)
	switch {
	case err == nil && !hostname.Loopback(host) || hostname.Numeric(host):
		return "the host is a number: nothing tells whose it is"
	case strings.Contains("."+strings.ToLower(host), ".xn--") ||
		strings.ContainsFunc(host, func(r rune) bool { return r > 127 }):
		return "the host's name has letters beyond ASCII: it may look like another name"
	}
	return ""
}

// escapeBeyondASCII escapes the letters of a query that may be shown as what they are not, such as one that turns
// around what follows. It is what a browser does before it asks for the page.
func escapeBeyondASCII(query string) string {
	var b strings.Builder
	for i := range len(query) {
		if c := query[i]; c > 127 {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// URLElicitationRequiredError is what the server of a client without [HandleURLElicitation] wants the user to do before
// it can answer a call, in 2025-11-25 only. [errors.As] and [errors.AsType] find it in the error of the call, unless
// what the server says is malformed or has a URL that is not safe to show. Then the call can be made again.
// (specification 2025-11-25, client/elicitation, "URL Elicitation Required Error")
type URLElicitationRequiredError struct {
	Server       *mcp.Error
	Elicitations []*URLElicitation
}

// Error returns what the server says.
func (e *URLElicitationRequiredError) Error() string { return e.Server.Error() }

// As finds the form of the server's error that has its data decoded: a [*URLElicitationRequiredError].
func (e *Error) As(target any) bool {
	t, ok := target.(**URLElicitationRequiredError)
	if !ok {
		return false
	}
	elicitations, err := requiredElicitations(e.Server)
	if err != nil {
		return false
	}
	required := &URLElicitationRequiredError{Server: e.Server}
	for _, p := range elicitations {
		u, err := newURLElicitation(p)
		if err != nil {
			return false
		}
		required.Elicitations = append(required.Elicitations, u)
	}
	*t = required
	return true
}

var errNotRequired = errors.New("the error requires no elicitation")

// The bounds of what one error of the server may want the user to do.
const (
	maxVisits     = 64
	maxVisitBytes = 1 << 20 // of the error's data
)

// tooManyVisits is the error for what exceeds them.
type tooManyVisits struct{ limit string }

func (e tooManyVisits) Error() string {
	return "the server sends the user to URLs with more than " + e.limit + " at once"
}

// requiredElicitations returns what an error of the server wants the user to do.
func requiredElicitations(e *mcp.Error) ([]*mcp.ElicitParams, error) {
	if e == nil || e.Code != mcp.CodeURLElicitationRequired {
		return nil, errNotRequired
	}
	if len(e.Data) > maxVisitBytes {
		return nil, tooManyVisits{fmt.Sprint(maxVisitBytes, " bytes")}
	}
	var data mcp.URLElicitationRequiredData
	r := Request{Params: e.Data}
	if err := r.Decode(&data); err != nil {
		return nil, err
	}
	switch n := len(data.Elicitations); {
	case n == 0:
		return nil, errNotRequired
	case n > maxVisits:
		return nil, tooManyVisits{fmt.Sprint(maxVisits, " URLs")}
	}
	for _, p := range data.Elicitations {
		if p == nil || p.Mode != mcp.ElicitURL || p.ElicitationID == "" || clientinput.CheckVisitSize(p) != nil {
			return nil, errNotRequired
		}
	}
	return data.Elicitations, nil
}
