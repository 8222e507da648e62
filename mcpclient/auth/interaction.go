package auth

import "context"

// Interaction brings a person to an authorization server and back. [Loopback] is the one for programs that run where
// the person's browser does; others may show the URL elsewhere and get the redirect from a web server of their own. Its
// methods may be called from any goroutine, for several MCP servers at the same time.
type Interaction interface {
	// RedirectURI returns where the authorization server shall send the person back to. It is called first, once for each
	// authorization, because the URI is part of the client's registration and of the URL. What it may have opened for that
	// ends with ctx at the latest, or with the call of Authorize that names the URI.
	RedirectURI(ctx context.Context) (string, error)

	// Authorize sends the person to r.URL and waits, within ctx, for what comes back to r.RedirectURI.
	Authorize(ctx context.Context, r InteractionRequest) (Redirect, error)
}

// InteractionRequest is what a person is asked to do. Printed or logged it leaves out the URL's query, which holds the
// state.
type InteractionRequest struct {
	URL         string   // to be opened in a browser: https, or http on loopback
	RedirectURI string   // where the answer comes to
	State       string   // which the answer has to carry: another one is not for this request
	Resource    string   // the MCP server that wants it, to tell the person
	Issuer      string   // the authorization server that asks, to tell the person
	Scopes      []string // what is asked for, to tell the person; may be empty
}

// Redirect is what came back, as it was: the flow checks state and issuer. Printed or logged it hides code and state.
type Redirect struct {
	Code             string
	State            string
	Issuer           string // the parameter iss of RFC 9207
	HasIssuer        bool   // whether there was one
	Error            string // the OAuth error code, instead of a code
	ErrorDescription string // not to be shown before the issuer has been checked
}
