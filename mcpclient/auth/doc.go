// Package auth authorizes a client at MCP servers over HTTP: it finds the authorization server, makes itself known
// there, gets a token, renews it and puts it into each request. (specification 2026-07-28, basic/authorization, and the
// revisions back to 2025-03-26)
//
// Start at [New] and give the [Authorizer] to the transport:
//
//	a, err := auth.New(&auth.Options{Interact: &auth.Loopback{}})
//	…
//	defer a.Close()
//	t := &transport.HTTP{URL: "https://example.com/mcp", Authorizer: a}
//
// A server that asks for no authorization gets no token: all of it begins with the first refusal. [AuthorizationCode]
// is for a person at a browser, [ClientCredentials] for a program that acts for itself, [JWTBearer] for a workload with
// an identity from its platform, [EnterpriseManaged] for an employee whose identity provider decides. [Loopback] brings
// a person to the browser and back; [NewFileStore] keeps tokens from one run to the next.
//
// What may surprise:
//
//   - An Authorizer is for one MCP server, that of the first request. Several can share a [TokenStore]; a store is of
//     one person.
//   - When a caller stops waiting, the authorization goes on for [Options.InteractionTimeout]. Later callers join it,
//     and its token serves the next request. [Authorizer.Close] ends it.
//   - Trouble with the network never costs a token. Only the authorization server's word that it is not valid does.
//   - What the server does not say is not guessed: without PKCE in the metadata there is no authorization, an issuer
//     that differs by a slash is another one, and a token that is not bound to its key as it should be is refused. Only
//     a server that publishes no resource metadata, as those of 2025-03-26, need not name PKCE; the client uses it
//     there all the same.
//   - An MCP server is the resource at its own URL and no other. One that names a resource above itself, as servers do
//     that have one token for several endpoints, is refused unless [Options.Resource] names the same. A token that is
//     stored for a server is sent to no other, whatever they say.
//   - Credentials belong to the authorization server that gave them. When the MCP server names another one, the client
//     registers anew and uses nothing of the old one. Credentials from Options cannot be registered anew: an error.
//   - Metadata and token requests go to public addresses over https only, unless the MCP server itself is on loopback
//     or [Options.AllowPrivateAddresses] says otherwise.
//   - No token is got for an MCP server at a plain http URL, unless that is on loopback: an attacker on the way could
//     read it.
//   - A server cannot keep a person busy: at most 8 authorizations are begun in any 10 minutes, a message is sent 4
//     times at most, and a scope that was not granted is not asked for again for 5 minutes.
//
// No error, log record, span or printed value of this package holds a secret; what servers say is left out where it
// repeats one.
package auth
