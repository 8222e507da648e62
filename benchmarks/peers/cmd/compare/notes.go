package main

// howToRead is the text above the tables.
const howToRead = `
The first column that is a floor has times: wall, and in brackets the CPU time of the process. The others are multiples of it: the
median over the passes of the ratio within a pass, wall and CPU. Where no floor takes part, absent has its place, which is ours
without telemetry; where that does not either, all are times. Then follow allocations and bytes allocated for each operation, and
what else a benchmark reports.

- floor moves the same bytes and looks at none of them. No client can be faster; none that does anything is as fast.
- floorjson is the least that a client has to do, with encoding/json: a goroutine that reads, ids that are matched, one pass.
- ours is this library as a user has it by default: telemetry on, no SDK of OpenTelemetry installed.
- gosdk is github.com/modelcontextprotocol/go-sdk 1.8.0, mcpgo github.com/mark3labs/mcp-go 1.2.1, both as their documentation shows
  them, without telemetry.

What all figures leave out: what a network does, contention with other work for the processors and caches, tools that do anything,
and a heap that holds something. A benchmark's heap is small, so that garbage is collected often; a service that has a large heap, or
a larger GOGC, pays less for what a peer allocates.
`

// leavesOut describes the limits of each benchmark's figures, by its name.
var leavesOut = map[string]string{
	"Roundtrip": "A client calls a tool of a server that answers with bytes that are ready. On stdio the server is " +
		"another process: its CPU time is left " +
		"out. On pipes and over HTTP it is in this process, and its CPU time is in every column; net/http's share is then " +
		"most of the floor.",
	"AsUsed": "As in Roundtrip, but as people use a client: with arguments in a map, a struct or as JSON (in Roundtrip " +
		"it is a pointer to a struct), an http.Client of their own (client=own), one whose RoundTripper is of a type of " +
		"their own (client=wrapped) or of otelhttp without an SDK, TLS with HTTP/1.1 (client=tls) or HTTP/2 (client=h2), " +
		"100 MiB of other things on the heap (heap=100MiB), eight clients of a server each in one process (clients=8), or " +
		"results of 1 to 256 KiB. Floors over HTTP use the same client. shape=mixed is twenty texts in turn, of the sizes " +
		"that real servers gave in the end-to-end tests: fifteen of 300 B, three of 1 KiB, one of 4 KiB, one of 40. " +
		"telemetry=production samples a tenth of the traces and exports spans and metrics over OTLP/gRPC to a receiver in " +
		"this process, whose work is in the figure; ours has all its telemetry then, others but floor a span and a " +
		"histogram around each call, by hand, and send no trace context. Left out: keys of TLS are agreed on before " +
		"it is measured, and servers observe nothing.",
	"Server": "A client that writes bytes that are ready, and looks at none of the answer but its end, calls a tool " +
		"that does nothing. The client's CPU " +
		"time is in every column. What the handler of a real tool does is left out, and so are sessions: HTTP is stateless.",
	"Decode": "A frame in memory becomes a typed value, for gosdk and mcpgo by what they export, which is less than " +
		"their clients do. Left out: reading it, matching it to a call, and what the user does with the value. What is " +
		"kept raw until " +
		"it is asked for (structured content, base64, schemas) stays so, for those who do that.",
	"Envelope": "What a frame is and whose, found in memory: the id, and where the result begins and ends. The result " +
		"is left as it is, not even validated.",
	"Encode": "A request written into a buffer in memory. The write itself is left out.",
	"TelemetryClient": "As in Roundtrip, with this library's client only: the server observes nothing. absent has no " +
		"telemetry, no-sdk has it without an SDK of OpenTelemetry, " +
		"unsampled and sampled have spans, metrics and logs at Info, exported sends all of them over OTLP to a receiver " +
		"in this process, whose work is in the figure. " +
		"spans has spans and their propagation alone. bare has no telemetry of this library, but one span of the SDK with " +
		"ten attributes around each call. In all but exported, what exporters do is left out.",
	"TelemetryServer": "The same for this library's server, as in Server. The requests name no trace.",
	"IdleClient": "Heap, and stacks of goroutines, of clients that have made one call and wait, without what their " +
		"servers take; the buffers of pipes and sockets are the kernel's and left out, and over HTTP the connections, " +
		"which are closed. at-once is when the last has made its call, the others 2.5 s later. The time is that of making " +
		"all of them.",
	"IdleServer": "The same for the sessions of a server in the legacy era, without what their clients take.",
	"Delay": "How much later a small answer comes because a large one, for another caller, is on the same pipe before " +
		"it. What is in the pipe when the large one has " +
		"been written, up to a megabyte, is in the figure. The time of an op is a whole round and says little.",
	"Connect": "A client is made, calls a tool once and is closed. On stdio nearly all of it is the start of a " +
		"process, which here is a large test binary.",
	"FirstCall": "The first calls of 64 clients that are connected, one after the other, which are an op. Connecting, " +
		"and closing, are left out.",
	"Reconnect": "A server on a pipe ends and is there anew at once; an op is that, up to the answer of the next call. " +
		"The floors make a client anew; ours finds out itself, without its backoff. The new server's buffer of 256 KiB " +
		"is in each column.",
	"Output": "A call whose structured content becomes a struct of the user's, with ours checked against the schema " +
		"that the server has listed (CallToolAs). floorjson leaves the content as JSON, and checks nothing else. The list, " +
		"and reading the schema, are before it.",
	"FramesRead":     "Frames taken out of a pipe, not parsed. The CPU time of who writes them is in it.",
	"FramesRejected": "The same for frames above a limit of 64 KiB, which are skipped.",
	"FramesWrite":    "Frames written into a pipe; the CPU time of who empties it is in it.",
	"NotifyReceived": "Notifications that a server sends, up to a handler which does not decode them.",
	"Growth": "A tiny call on a pipe after so many others, or while so many calls that were given up are " +
		"remembered.",
	"NotifySent": "Notifications that a client sends; nobody answers. The server's goroutine is in the CPU time.",
}
