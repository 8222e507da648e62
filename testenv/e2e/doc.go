// Package e2e tests the client and the command against real servers that nobody here wrote, over stdio. The servers are
// pinned and installed by testenv/servers/install, whose directory the environment variable MCPOTEL_SERVERS names.
package e2e
