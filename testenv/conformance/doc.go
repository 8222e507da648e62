// Package conformance runs the official MCP conformance suite against the client. The suite is pinned and installed by
// testenv/conformance/install, whose directory the environment variable MCPOTEL_CONFORMANCE names; the client under
// test is the program in the folder client, which uses the public API only.
//
// For each scenario the suite starts a mock server, runs the client against it and judges what it saw. One process of
// it runs those of a revision, one after the other.
package conformance
