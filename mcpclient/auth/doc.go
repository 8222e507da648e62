// Package auth authorizes a client at MCP servers over HTTP: it finds the authorization server, registers the client,
// gets a token, refreshes it and adds it to each request. (specification 2026-07-28, basic/authorization, and the
// revisions back to 2025-03-26)
//
// Start at [New] and pass the [Authorizer] to the transport:
//
//	a, err := auth.New(&auth.Options{Interact: &auth.Loopback{}})
//	…
//	defer a.Close()
//	t := &transport.HTTP{URL: "https://example.com/mcp", Authorizer: a}
//
// A server that requires no authorization receives no token: the client authorizes only after the first refusal.
// [AuthorizationCode] is for a person with a browser, [ClientCredentials] for a program that acts on its own behalf,
// [JWTBearer] for a workload with an identity from its platform, and [EnterpriseManaged] for an employee whose
// identity provider decides. [Loopback] opens the browser and receives the redirect; [NewFileStore] keeps tokens
// across restarts.
//
// Some behaviour may surprise:
//
//   - An Authorizer serves one MCP server, the server of its first request. Several Authorizers can share a
//     [TokenStore], which belongs to one person.
//   - If a caller stops waiting, the authorization continues until [Options.InteractionTimeout]. Later callers join
//     it, and its token serves the next request. [Authorizer.Close] stops it.
//   - A network failure never invalidates a token. Only the answer of a server does.
//   - Missing information is not guessed. Without PKCE in the metadata, the authorization fails; an issuer that
//     differs by a slash is a different issuer; a token that is not bound to its key as required is rejected. The
//     only exception is a server without resource metadata, as in 2025-03-26: it need not announce PKCE, and the
//     client uses PKCE anyway.
//   - The resource of an MCP server is its own URL and no other. If its metadata names a resource above that URL,
//     as servers with one token for several endpoints do, the client rejects the metadata unless [Options.Resource]
//     names the same resource. A stored token of one server is never sent to another, whatever their metadata contains.
//   - Credentials belong to the authorization server that issued them. If the MCP server names another
//     authorization server, the client registers there and uses nothing from the old one. The client cannot replace
//     credentials from Options in this way, so the authorization fails.
//   - Metadata and token requests go only to public addresses over https, unless the MCP server itself is on
//     loopback or [Options.AllowPrivateAddresses] is set.
//   - The client gets no token for an MCP server with a plain http URL, unless it is on loopback, because an
//     attacker on the network could read the token.
//   - The number of prompts is limited: at most 8 authorizations start in any 10 minutes, a message is sent at most
//     4 times, and a scope that was not granted is not requested again for 5 minutes.
//
// Errors, log records, spans and printed values of this package contain no secrets. Text from servers is omitted
// where it repeats a secret.
package auth
