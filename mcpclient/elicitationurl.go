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

// URLElicitation is a web page that the server asks the user to visit to enter data that must not pass through the
// client: a secret, a payment, the authorization of a third party.
type URLElicitation struct {
	Message string // the server's reason, to show to the user
	ID      string // set only by servers of 2025-11-25

	// URL has the scheme https (or http on this machine), a host, and no user name. Show the user the complete URL before
	// you open it, and highlight its Hostname.
	URL *url.URL

	// Warning explains why the host may be misleading. Warning is empty if nothing about the host is misleading. Show the
	// warning with the URL.
	Warning string

	visit *urlVisit
}

// Complete reports that the user is done at the URL, so that a waiting call continues. A notification of the server has
// the same effect; Complete is for a button that works without that notification. Complete may be called at any time,
// and more than once.
func (e *URLElicitation) Complete() {
	if e.visit != nil {
		e.visit.complete()
	}
}

// URLElicitationHandler asks the user for consent to visit a URL. If the user consents, it opens the URL and returns
// without waiting for the result: accept means that the user went there, not that the user is done. The handler must
// not fetch the URL, not even in part. It must open the URL where neither this program nor a model sees the user's
// input: in the user's browser. An empty action means that the user did not answer. (specification 2026-07-28,
// client/elicitation, "Safe URL Handling")
type URLElicitationHandler func(ctx context.Context, e *URLElicitation) (mcp.ElicitAction, error)

// HandleURLElicitation declares that the client can send its user to URLs, and calls h for each URL: for
// elicitation/create of a legacy server, and for requests for input of a modern one. If a URL is not safe to show, the
// client refuses it without calling h. o may be nil. (specification 2026-07-28, client/elicitation, "URL Mode")
func HandleURLElicitation(h URLElicitationHandler, o *URLElicitationOptions) Feature {
	return feature{
		declare: declareElicitation(func(e *mcp.ElicitationCapability) { e.URL = mcp.Object{} }),
		join: func(c *Client) error {
			if h == nil {
				return handleElicitation(c, mcp.ElicitURL, nil)
			}
			c.urls = newURLVisits(h, o)
			if c.urls.Completed != nil {
				c.dispatcher.add(&Handler{method: mcp.NotificationElicitationComplete, handle: c.urls.tell})
			}
			return handleElicitation(c, mcp.ElicitURL, c.urls.elicit)
		},
	}
}

// elicit calls the handler to send the user to the URL of p.
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

// newURLElicitation returns the elicitation of p. It returns an error if the URL is not safe to show.
func newURLElicitation(p *mcp.ElicitParams) (*URLElicitation, error) {
	if err := clientinput.CheckVisitSize(p); err != nil {
		return nil, err
	}
	u, err := url.Parse(p.URL)
	if err != nil {
		return nil, errors.New("url is invalid")
	}
	if err := clientinput.CheckVisit(u); err != nil {
		return nil, fmt.Errorf("url %w", err)
	}
	u.RawQuery = escapeBeyondASCII(u.RawQuery) // the only part that String does not escape
	return &URLElicitation{Message: p.Message, ID: p.ElicitationID, URL: u, Warning: warningAbout(u.Hostname())}, nil
}

// warningAbout returns a warning about a misleading host name, or an empty string.
func warningAbout(host string) string {
	_, err := netip.ParseAddr(host)
	switch {
	case err == nil && !hostname.Loopback(host) || hostname.Numeric(host):
		return "the host is an IP address, which does not show who owns it"
	case strings.Contains("."+strings.ToLower(host), ".xn--") ||
		strings.ContainsFunc(host, func(r rune) bool { return r > 127 }):
		return "the host name has non-ASCII letters, and may imitate another name"
	}
	return ""
}

// escapeBeyondASCII escapes the characters of a query that could be displayed misleadingly, such as a character that
// reverses the text after it. Browsers escape them in the same way before they request a page.
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

// URLElicitationRequiredError reports that the user must visit URLs before the server can answer the call. It occurs
// only in 2025-11-25, for a client without [HandleURLElicitation]. [errors.As] and [errors.AsType] find it in the error
// of the call, unless the server's data is malformed or has an unsafe URL. After the visits, the caller can repeat the
// call. (specification 2025-11-25, client/elicitation, "URL Elicitation Required Error")
type URLElicitationRequiredError struct {
	Server       *mcp.Error
	Elicitations []*URLElicitation
}

// Error returns the text of the server's error.
func (e *URLElicitationRequiredError) Error() string { return e.Server.Error() }

// As converts the server's error to a [*URLElicitationRequiredError] with decoded data. It is called by [errors.As].
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

var errNotRequired = errors.New("the server's error contains no elicitations")

// Limits of the elicitations in one error of the server.
const (
	maxVisits     = 64
	maxVisitBytes = 1 << 20 // bytes of the error's data
)

// tooManyVisits is the error for elicitations above these limits.
type tooManyVisits struct{ limit string }

func (e tooManyVisits) Error() string {
	return "the server's request to visit URLs exceeds the limit of " + e.limit
}

// requiredElicitations returns the elicitations in an error of the server, or an error if there are none or they are
// invalid.
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
