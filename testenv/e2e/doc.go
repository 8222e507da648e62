// Package e2e tests the client, the server and the command against real servers and clients by other authors, over
// stdio and HTTP. testenv/servers/install installs pinned versions; the environment variable MCPOTEL_SERVERS names the
// directory.
//
// If MCPOTEL_SPEC names the directory of the specification's schemas, every message that our client or server sends in
// these tests is validated against the schema of its revision, which must define all of its members.
//
// Every server is a process of its test: it listens on a free port of the loopback interface only and ends with the
// test. The tests need no network.
package e2e
