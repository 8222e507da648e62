// Package e2e tests the client, the server and the command against real servers and clients by other authors,
// over stdio and HTTP. They are pinned and installed by testenv/servers/install, whose directory the environment
// variable MCPOTEL_SERVERS names.
//
// Where MCPOTEL_SPEC names the directory with the specification's schemas, every message that our client or server
// sends in these tests is held against the schema of its revision, which must not define fewer members than the message
// has.
//
// Every server is a process of its test: it listens on the loopback interface only, on a port that is free, and ends
// with the test. Nothing needs a network.
package e2e
