// Package conformance runs the official MCP conformance suite against the client. The suite is pinned and installed by
// testenv/conformance/install, whose directory the environment variable MCPOTEL_CONFORMANCE names; the client under
// test is the program in the folder client, which uses the public API only.
//
// The suite is one process for each scenario: it starts a mock server, runs the client against it and judges what it
// saw.
package conformance
