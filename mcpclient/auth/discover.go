package auth

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"

	"github.com/mcpotel/mcpotel/internal/hostname"
	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/mcpclient/auth/internal/metadata"
)

// discover finds the authorization server of the MCP server and its metadata. (specification 2026-07-28,
// basic/authorization/authorization-server-discovery)
func (f *flow) discover(ctx context.Context) error {
	if err := f.discoverResource(ctx); err != nil {
		return err
	}
	return f.discoverServer(ctx)
}

func (f *flow) discoverResource(ctx context.Context) error {
	ctx, end := instrument.StartAuthStep(ctx, string(StepDiscoverResource))
	r, err := f.fetch.Resource(ctx, f.url, f.a.o.Resource, f.demand.metadataURL)
	if err == nil && len(r.AuthorizationServers) == 0 {
		err = refuse(StepDiscoverResource, "metadata of the MCP server names no authorization server")
	}
	if errors.Is(err, metadata.ErrNotFound) && f.demand.metadataURL == "" {
		r, err = nil, nil // the server is of 2025-03-26, or relies on the client's configuration
	}
	if err != nil {
		err = failed(StepDiscoverResource, err)
	}
	end(err)
	if err != nil {
		return err
	}
	f.resource, f.id = r, canonical(f.url)
	if r != nil {
		f.id = r.Resource // byte for byte as published
	}
	return nil
}

func (f *flow) discoverServer(ctx context.Context) error {
	ctx, end := instrument.StartAuthStep(ctx, string(StepDiscoverServer))
	s, err := f.fetchServer(ctx)
	if err != nil {
		err = failed(StepDiscoverServer, err)
	}
	f.server = s
	end(err)
	return err
}

func (f *flow) fetchServer(ctx context.Context) (*metadata.Server, error) {
	bound := f.boundIssuer()
	if f.resource == nil {
		if bound != "" {
			return f.fetch.Server(ctx, bound)
		}
		return f.fetch.LegacyServer(ctx, f.url)
	}
	named := f.resource.AuthorizationServers
	if bound == "" {
		return f.fetch.Server(ctx, named[0])
	}
	if !slices.Contains(named, bound) {
		return nil, refuse(StepDiscoverServer, "client is registered with %s, but the MCP server names %s", quoteShort(bound),
			quoteShort(strings.Join(named, ", ")))
	}
	return f.fetch.Server(ctx, bound)
}

// boundIssuer returns the only authorization server that may receive the configured credentials: the issuer with
// which they were registered, or else the first issuer that accepted them. It returns the empty string if there is
// none. (specification 2026-07-28, basic/authorization/client-registration, "Authorization Server Binding")
func (f *flow) boundIssuer() string {
	switch c := f.a.o.Credentials; {
	case c == nil:
		return ""
	case c.Issuer != "":
		return c.Issuer
	case f.last != nil && !f.last.server.Default:
		return f.last.server.Issuer
	default:
		return ""
	}
}

// own returns the URL of an MCP server in normalized form, including its query, which may distinguish tenants. The
// store's key contains this URL, so a stored token serves only this URL, whatever identifier the server publishes.
func own(u *url.URL) string {
	c := url.URL{Path: u.Path, RawPath: u.RawPath, RawQuery: u.RawQuery}
	if c.Path == "/" {
		c.Path, c.RawPath = "", ""
	}
	return hostname.Origin(u) + c.String()
}

// canonical returns the URL of an MCP server without the parts that do not identify the server: query, fragment, user
// information and the slash of an empty path. The result is the identifier of a server that publishes no metadata.
// (specification 2026-07-28, basic/authorization, "Canonical Server URI"; RFC 8707)
func canonical(u *url.URL) string {
	c := url.URL{Scheme: strings.ToLower(u.Scheme), Host: strings.ToLower(u.Host), Path: u.Path, RawPath: u.RawPath}
	if c.Path == "/" {
		c.Path, c.RawPath = "", ""
	}
	return c.String()
}
