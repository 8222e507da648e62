// Package conformance runs the official MCP conformance suite against the client and the server.
// testenv/conformance/install installs the pinned suite; the environment variable MCPOTEL_CONFORMANCE names its
// directory. The programs under test are in the folders client and server, and use only the public API.
//
// In a scenario for clients, the suite starts a mock server, runs the client against it and judges the client's
// behaviour. In a scenario for servers, the suite sends requests to the running server. One process of the suite runs
// all scenarios of a revision, one after the other.
package conformance
