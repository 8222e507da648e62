package auth

import "context"

// Interaction sends a person to an authorization server and receives the redirect. [Loopback] is for programs that
// run on the same machine as the person's browser. Other implementations may show the URL elsewhere and receive the
// redirect in their own web server. The methods may be called from any goroutine, concurrently for several MCP
// servers.
type Interaction interface {
	// RedirectURI returns the URI to which the authorization server redirects the browser. It is called once for each
	// authorization, before Authorize, because the registration and the authorization URL contain the URI. When ctx
	// ends, or when Authorize returns for that URI, the Interaction must close everything that RedirectURI has opened.
	RedirectURI(ctx context.Context) (string, error)

	// Authorize sends the person to r.URL and waits, within ctx, for the redirect to r.RedirectURI.
	Authorize(ctx context.Context, r InteractionRequest) (Redirect, error)
}

// InteractionRequest is a request for a person to authorize. Printed or logged, it omits the query of the URL, which
// contains the state.
type InteractionRequest struct {
	URL         string   // URL to open in a browser: https, or http on loopback
	RedirectURI string   // URI of the redirect
	State       string   // state that the redirect must carry; a redirect with another state answers another request
	Resource    string   // MCP server that requires the authorization; for display
	Issuer      string   // authorization server; for display
	Scopes      []string // requested scopes; for display; may be empty
}

// Redirect holds the unchecked parameters of a redirect. Printed or logged, it hides code and state.
type Redirect struct {
	Code             string
	State            string
	Issuer           string // parameter iss of RFC 9207
	HasIssuer        bool   // whether iss was present
	Error            string // OAuth error code, sent instead of a code
	ErrorDescription string // not to be displayed before the issuer has been checked
}
