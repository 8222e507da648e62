package bounds

// intro is what the page begins with.
const intro = `<!-- Generated from internal/bounds by go generate. Do not edit. -->

# Bounds

What a client and a server hold in memory because of what a peer sends, how much of it at most, and what happens then.
Nothing that a peer can fill is without a bound: every buffer, queue, table, cache and listing of both ends stands in a
table below, each with its number as the source has it, the option that moves it, what happens when it is full, and a
test. Tests of internal/bounds hold the tables against the source: a field that may grow and stands in none of them fails a
test.

Sizes are of what is counted, which is the bytes of messages as they come. Decoded, JSON takes more: a result in Go's
types up to a few times its text, for as long as you keep it. The heap of a Go program may be twice what is in use, as
GOGC says; GOMEMLIMIT bounds that.

## One hostile peer

What one peer can have the other end hold at once, at the defaults, if it does everything at the same time. An honest one
comes nowhere near: an idle connection takes a few kilobytes, see [performance.md](performance.md). Rows that are not in
these sums hold small things of fixed numbers, or what your own calls bring about. Each stream has, besides, up to one
FrameLimit that is being read and what net/http reads of headers: 1 MiB by default.

Not in the sums, because it takes options that are off by default: with a store that processes share, one FrameLimit for
each session whose stream another process has; with Logging, 1 MiB of log messages for each session. Lower MaxSessions
where you use them.
`

// totals are added up at the head of the page.
var totals = []struct {
	of           holder
	title, about string
}{
	{ofClient, "A client, for one server",
		`Lower mcpclient.Options.FrameLimit first: most of the sum follows it. Each of your calls that runs adds its own
answer, one frame at most, and a list that you have walked to its end four.`},
	{ofAccount, "A server over HTTP, for one account",
		`An account is a principal or, without one, the address a request comes from (mcpserver.HTTPOptions.Account).
It gets half of what all share, as long as it is alone. Clients of the loopback and of Unix sockets have no account, and may take
what there is for all.`},
	{ofServer, "A server over HTTP, for all of them", `However many they are.`},
	{ofStream, "A server on a stream, for its client",
		`Over stdio there is one; mcpserver.Server.Serve may have many, and each adds as much.`},
}
