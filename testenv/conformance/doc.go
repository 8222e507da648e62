// Package conformance runs the official MCP conformance suite against the client. testenv/conformance/install installs
// the pinned suite; the environment variable MCPOTEL_CONFORMANCE names its directory. The client under test is the
// program in the folder client, which uses only the public API.
//
// For each scenario, the suite starts a mock server, runs the client against it and judges the client's behaviour. One
// process of the suite runs all scenarios of a revision, one after the other.
package conformance
