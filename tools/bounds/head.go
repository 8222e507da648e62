package bounds

// intro is the beginning of the page.
const intro = `<!-- Generated from tools/bounds by go generate. Do not edit. -->

# Bounds

This page bounds the memory of a client and a server for data from a peer, and describes the behaviour at each bound.
A peer can fill nothing without a bound: the tables below have every buffer, queue, table, cache and listing of both ends,
with its number from the source, the option that changes it, the behaviour when it is full, and a test. Tests of tools/bounds
compare the tables with the source: a field that may grow and is missing from the tables fails a test.

Sizes count the bytes of messages as received. Decoded JSON takes more: a result in Go's types takes up to a few times its
text, for as long as you keep it. By default, the heap of a Go program may be twice the memory in use (GOGC); GOMEMLIMIT
bounds the heap.

## Memory of a frame during decoding

A frame of N bytes is in memory up to three times: in the read buffer, in the larger buffer while the read buffer grows, and in
a copy for a decoder that must not overwrite the frame. In addition, the decoded values take at most {internal/weigh.Factor} N, or
{bytes internal/weigh.Free} if that is more. Their size is estimated before decoding. If the decoded values would take more
than that, the text is refused. Examples are a long list of one-digit numbers, decoded into a value of type any, and a list of
empty objects, decoded into large structs. The call then fails with an error of kind KindProtocol. If the text is the arguments
of a tool, the model gets the reason why its arguments were refused. Two million numbers are accepted, and so are a table of
150,000 rows, and lists of numbers or of structs about as large as their text. For larger values, CallTool and the method
Server.AddTool pass JSON on without decoding it.

Each of several concurrent answers takes this much memory.

## One hostile peer

These sums are the memory that one peer can occupy at the other end, at the defaults, if it fills everything at the same time.
An honest peer needs far less: an idle connection takes a few kilobytes, see [performance.md](performance.md). Rows outside of
these sums hold a fixed number of small things, or data of your own calls. In addition, each stream has up to one frame limit
being read, and the headers that net/http reads: 1 MiB by default.

The sums exclude options that are off by default: with a store that processes share, one frame limit for each session with a
stream in another process; with Logging, 1 MiB of log messages for each session. Lower HTTPLimits.Sessions if you use these
options.
`

// totals are the sums at the head of the page.
var totals = []struct {
	of           holder
	title, about string
}{
	{ofClient, "A client, for one server",
		`Lower mcpclient.Limits.Frame first: most of the sum follows it. Each of your running calls adds its
answer, at most one frame, or at most four frames if the call reads all pages of a list.`},
	{ofAccount, "A server over HTTP, for one account",
		`An account is a principal or, without a principal, the address of the client (mcpserver.HTTPOptions.Account).
A single account gets half of the shared memory. Clients on loopback and on Unix sockets have no account, and may take all of
the shared memory.`},
	{ofServer, "A server over HTTP, for all of them", `This holds for any number of accounts.`},
	{ofStream, "A server on a stream, for its client",
		`Over stdio there is one stream; mcpserver.Server.Serve may have many, and each adds this sum.`},
}
