// Package mcptest has servers for the tests of code that uses package mcpclient. A [Server] has tools of your own, and
// fails when the test says so: it is killed, slow, busy, not to be reached, or writes garbage. A [Script] is a server
// whose every message the test writes. [Replay] is a server that was recorded by "mcpotel proxy --record".
//
// All are transports to give to the code under test, or to mcpclient.Connect. They live in the process of the test,
// without files, sockets or processes, and work in a bubble of testing/synctest, where a delay of an hour takes no
// time.
//
// To look at the telemetry of a test there is package mcpclient/telemetry/telemetrytest.
package mcptest
