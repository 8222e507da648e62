// Package e2e tests the client, the server and the command against real servers and clients that nobody here wrote, over
// stdio and HTTP. They are pinned and installed by testenv/servers/install, whose directory the environment variable
// MCPOTEL_SERVERS names.
//
// Every server is a process of its test: it listens on the loopback interface only, on a port that is free, and ends with
// the test. Nothing needs a network.
package e2e
