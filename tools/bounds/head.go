package bounds

// intro is the beginning of the page.
const intro = `<!-- Generated from tools/bounds by go generate. Do not edit. -->

# Bounds

What a client and a server hold in memory because of what a peer sends, how much of it at most, and what happens then.
Nothing that a peer can fill is without a bound: every buffer, queue, table, cache and listing of both ends stands in a
table below, each with its number as the source has it, the option that moves it, what happens when it is full, and a
test. Tests of tools/bounds hold the tables against the source: a field that may grow and stands in none of them fails a
test.

Sizes are of what is counted, which is the bytes of messages as they come. Decoded, JSON takes more: a result in Go's
types up to a few times its text, for as long as you keep it. The heap of a Go program may be twice what is in use, as
GOGC says; GOMEMLIMIT bounds that.

## What a frame costs while it is decoded

A frame of N bytes is in memory up to three times on its way: as it is read, in a buffer that grew, and in a copy for a decoder
that may not overwrite it. Beyond that, what it is decoded into takes {internal/weigh.Factor} N at most, or
{bytes internal/weigh.Free} if that is more. This is found out before anything is decoded. A text that would take more, such as
numbers of two bytes in a value of type any or empty objects in a list of large structs, is refused: the call fails with an error
of kind KindProtocol, and a model reads why its arguments do not fit. Two million numbers pass, and so does a table of 150,000
rows, and whatever is decoded into lists of numbers, or of structs that are about as large as their text. For the rest, CallTool
and the method Server.AddTool hand JSON on as it is.

Calls that are answered at the same time take as much each.

## One hostile peer

What one peer can have the other end hold at once, at the defaults, if it does everything at the same time. An honest one
comes nowhere near: an idle connection takes a few kilobytes, see [performance.md](performance.md). Rows that are not in
these sums hold small things of fixed numbers, or what your own calls bring about. Each stream has, besides, up to one
frame limit that is being read and what net/http reads of headers: 1 MiB by default.

Not in the sums, because it takes options that are off by default: with a store that processes share, one frame limit for
each session whose stream another process has; with Logging, 1 MiB of log messages for each session. Lower
HTTPLimits.Sessions where you use them.
`

// totals are the sums at the head of the page.
var totals = []struct {
	of           holder
	title, about string
}{
	{ofClient, "A client, for one server",
		`Lower mcpclient.Limits.Frame first: most of the sum follows it. Each of your calls that runs adds its own
answer, one frame at most, and a list that you have walked to its end four.`},
	{ofAccount, "A server over HTTP, for one account",
		`An account is a principal or, without one, the address a request comes from (mcpserver.HTTPOptions.Account).
It gets half of what all share, as long as it is alone. Clients of the loopback and of Unix sockets have no account, and may take
what there is for all.`},
	{ofServer, "A server over HTTP, for all of them", `However many they are.`},
	{ofStream, "A server on a stream, for its client",
		`Over stdio there is one; mcpserver.Server.Serve may have many, and each adds as much.`},
}
