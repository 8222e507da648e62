// Package mcptest provides servers for tests of code that uses package mcpclient. A [Server] has your own tools and
// fails on demand: it is killed, slow, busy or unreachable, or sends garbage. A [Script] is a server whose messages
// the test writes one by one. [Replay] replays a server that "mcpotel proxy --record" has recorded.
//
// All three are transports, which you pass to the code under test or to mcpclient.Connect. They run in the process of
// the test without files, sockets or child processes, and work in a testing/synctest bubble, where a delay of an hour
// takes no time.
//
// To check the telemetry of a test, use package mcpclient/telemetry/telemetrytest.
package mcptest
