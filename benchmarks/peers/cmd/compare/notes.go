package main

// howToRead is the text above the tables.
const howToRead = `
The first column with a floor has times: wall, and in brackets the CPU time of the process. The others are multiples
of it: the median over the passes of the ratio within a pass, wall and CPU. Without a floor, absent replaces it, which
is ours without telemetry; without absent, all are times. Allocations and allocated bytes for each operation follow,
and then the other figures of a benchmark.

- floor moves the same bytes and examines none of them. No client can be faster, and no useful client is as fast.
- floorjson is the least work of a client, with encoding/json: a goroutine that reads, ids that are matched, one pass.
- ours is this library with its defaults: telemetry on, no SDK of OpenTelemetry installed.
- gosdk is github.com/modelcontextprotocol/go-sdk 1.8.0, mcpgo github.com/mark3labs/mcp-go 1.2.1, both as in their
  documentation, without telemetry.

All figures exclude the network, contention with other work for the processors and caches, work of tools, and a filled
heap. A benchmark's heap is small, so garbage is collected often; a service with a large heap, or a larger GOGC, pays
less for a peer's allocations.
`

// leavesOut describes the limits of each benchmark's figures, by its name.
var leavesOut = map[string]string{
	"Roundtrip": "A client calls a tool of a server that answers with prepared bytes. On stdio the server is another " +
		"process: its CPU time is excluded. On pipes and over HTTP it is in this process, and its CPU time is in every " +
		"column; net/http's share is then most of the floor.",
	"AsUsed": "As in Roundtrip, but as people use a client: with arguments in a map, a struct or as JSON (in Roundtrip " +
		"a pointer to a struct), a user's http.Client (client=own), one with a RoundTripper of a user's type " +
		"(client=wrapped) or of otelhttp without an SDK, TLS with HTTP/1.1 (client=tls) or HTTP/2 (client=h2), 100 MiB " +
		"of other data on the heap (heap=100MiB), eight clients with a server each in one process (clients=8), or " +
		"results of 1 to 256 KiB. Floors over HTTP use the same client. shape=mixed is twenty texts in turn, of the " +
		"sizes of real servers' results in the end-to-end tests: fifteen of 300 B, three of 1 KiB, one of 4 KiB, one of " +
		"40. telemetry=production samples a tenth of the traces and exports spans and metrics over OTLP/gRPC to a " +
		"receiver in this process, whose work is in the figure; ours then has all its telemetry, others except floor a " +
		"span and a histogram around each call, by hand, without a trace context. Excluded: the exchange of TLS keys, " +
		"which comes before the measurement, and telemetry of servers.",
	"Server": "A client that writes prepared bytes, and examines only the end of the answer, calls a tool that does " +
		"nothing. The client's CPU time is in every column. Excluded: the work of a real tool's handler, and sessions, " +
		"because HTTP is stateless.",
	"Decode": "A frame in memory becomes a typed value, for gosdk and mcpgo by their exported functions, which do less " +
		"than their clients. Excluded: reading it, matching it to a call, and the user's work with the value. Lazily " +
		"decoded parts (structured content, base64, schemas) stay raw, for peers that decode lazily.",
	"Envelope": "The kind and the id of a frame in memory, and where the result begins and ends. The result is not " +
		"touched, not even validated.",
	"Encode": "A request written into a buffer in memory. The write itself is excluded.",
	"TelemetryClient": "As in Roundtrip, with this library's client only and a server without telemetry. absent has no " +
		"telemetry, no-sdk has it without an SDK of OpenTelemetry, unsampled and sampled have spans, metrics and logs at " +
		"Info, exported sends all of them over OTLP to a receiver in this process, whose work is in the figure. spans " +
		"has spans and their propagation alone. bare has no telemetry of this library, but one span of the SDK with ten " +
		"attributes around each call. All but exported exclude the work of exporters.",
	"TelemetryServer": "The same for this library's server, as in Server. The requests name no trace.",
	"IdleClient": "Heap, and stacks of goroutines, of clients that have made one call and wait, without their servers. " +
		"The buffers of pipes and sockets are the kernel's and excluded; over HTTP so are the connections, which are " +
		"closed. at-once is measured when the last client has made its call, the others 2.5 s later. The time is the " +
		"creation of all clients.",
	"IdleServer": "The same for the sessions of a server in the legacy era, without their clients.",
	"Delay": "The delay of a small answer behind a large one, for another caller, on the same pipe. The figure " +
		"includes the content of the pipe after the large answer has been written, up to a megabyte. The time of an op " +
		"is a whole round and means little.",
	"Connect": "A client is made, calls a tool once and is closed. On stdio nearly all of it is the start of a " +
		"process, which here is a large test binary.",
	"FirstCall": "The first calls of 64 connected clients, one after the other; all of them are one op. Connecting and " +
		"closing are excluded.",
	"Reconnect": "A server on a pipe ends and returns at once; an op lasts until the answer of the next call. The " +
		"floors make a new client; ours notices the end by itself, without its backoff. The new server's buffer of " +
		"256 KiB is in each column.",
	"Output": "The structured content of a call becomes a user's struct, with ours validated against the schema that " +
		"the server has listed (CallToolAs). floorjson keeps the content as JSON, and validates nothing else. Listing, " +
		"and parsing the schema, come before the measurement.",
	"FramesRead":     "Frames read from a pipe, not parsed. The figure includes the CPU time of the writer.",
	"FramesRejected": "The same for frames above a limit of 64 KiB, which are skipped.",
	"FramesWrite":    "Frames written into a pipe. The figure includes the CPU time of the reader.",
	"NotifyReceived": "Notifications from a server, up to a handler which does not decode them.",
	"Growth":         "A tiny call on a pipe after many others, or while many abandoned calls are remembered.",
	"NotifySent":     "Notifications from a client, without answers. The CPU time includes the server's goroutine.",
}
