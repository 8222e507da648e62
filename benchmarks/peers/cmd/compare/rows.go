package main

// row is a line of the table: a duration or a cost that users notice.
type row struct {
	title string

	// cases are patterns for names of benchmarks, without the peer: regular expressions between slashes, each for a whole
	// element. The table shows the first case that was measured; the goal holds for all of them.
	cases []string
	unit  string
	peer  string // the table shows the figure of this peer; ours by default

	// goal limits the ratio of the row's figure to the figure of the peer over (floor+json by default). If how is added,
	// goal limits the difference of the two figures; if how is alone, it limits the row's figure itself. A row without a
	// goal is only information.
	goal  float64
	over  string
	how   how
	other string // pattern for the case of over, if that is another case
}

// how is the kind of comparison for a row's goal.
type how int

const (
	times how = iota
	added
	alone
)

func (r *row) who() string  { return orElse(r.peer, ours) }
func (r *row) base() string { return orElse(r.over, floorJSON) }

// Peers with a special role.
const (
	floor     = "floor"
	floorJSON = "floorjson"
	ours      = "ours"
	absent    = "absent" // ours without telemetry
)

// Units that benchmarks report.
const (
	wall      = "ns/op"
	cpu       = "cpu-ns/op"
	rate      = "MB/s"
	allocs    = "allocs/op"
	peak      = "peak-x"
	perClient = "B/client"
	binary    = "B/binary"
)

// Elements of names. Calls are measured in both eras.
const (
	tiny1  = "/era=.*/shape=text/size=200B/callers=1"
	tiny64 = "/era=.*/shape=text/size=200B/callers=64"
	result = "Roundtrip/transport=stdio/era=2026-07-28/"
)

// rows are all rows, in order.
var rows = []*row{
	{title: "Tiny call, stdio", cases: []string{"AsUsed/transport=stdio" + tiny1 + "/arguments=map"}, unit: cpu, goal: 1},
	{title: "the same, allocations", cases: []string{"AsUsed/transport=stdio" + tiny1 + "/arguments=map"}, unit: allocs,
		goal: 7, how: alone},
	{title: "Tiny call, stdio, 64 callers", cases: []string{"AsUsed/transport=stdio" + tiny64 + "/arguments=map",
		"Roundtrip/transport=(stdio|pipe)" + tiny64}, unit: cpu, goal: 1.2},
	{title: "Tiny call, HTTP", cases: []string{"AsUsed/transport=httpjson" + tiny1 + "/arguments=map",
		"AsUsed/transport=http(json|sse)" + tiny1 + "/client=(own|wrapped|tls|h2)"}, unit: cpu, goal: 1.15},
	{title: "Tiny call, HTTP, 64 callers", cases: []string{"AsUsed/transport=httpjson" + tiny64 + "/arguments=map",
		"AsUsed/transport=httpjson" + tiny64 + "/client=(own|wrapped|tls|h2)"}, unit: cpu, goal: 1.15},
	{title: "Tiny call, stdio, in production", cases: []string{"AsUsed/transport=stdio" + tiny1 + "/telemetry=production"},
		unit: cpu, goal: 1},
	{title: "Tiny call, HTTP, in production",
		cases: []string{"AsUsed/transport=httpjson" + tiny1 + "/telemetry=production"}, unit: cpu, goal: 1.15},

	{title: "Text of 10 KiB", cases: []string{result + "shape=text/size=10KiB/callers=1"}, unit: cpu, goal: .3},
	{title: "Text of 100 KiB", cases: []string{result + "shape=text/size=100KiB/callers=1"}, unit: cpu, goal: .3},
	{title: "1,000 items, 100 KiB", cases: []string{result + "shape=items/size=100KiB/callers=1"}, unit: cpu, goal: .3},
	{title: "Text of 1 MiB", cases: []string{result + "shape=text/size=1MiB/callers=1",
		"Roundtrip/transport=http(json|sse)/era=2026-07-28/shape=text/size=1MiB/callers=1"}, unit: cpu, goal: .3},
	{title: "Text of 16 MiB", cases: []string{result + "shape=text/size=16MiB-1/callers=1",
		"Roundtrip/transport=http(json|sse)/era=2026-07-28/shape=text/size=16MiB-1/callers=1"}, unit: cpu, goal: .3},
	{title: "160,000 items, 16 MiB", cases: []string{result + "shape=items/size=16MiB-1/callers=1"}, unit: cpu, goal: .3},
	{title: "Text of 16 MiB, peak memory × its size", cases: []string{result + "shape=text/size=16MiB-1/callers=1"},
		unit: peak, goal: 2.2, how: alone},

	{title: "tools/list of 100", cases: []string{result + "shape=tools/size=100/callers=1"}, unit: cpu, goal: .3},
	{title: "tools/list of 1,000", cases: []string{result + "shape=tools/size=1000/callers=1",
		"Roundtrip/transport=httpjson/era=2026-07-28/shape=tools/size=1000/callers=1"}, unit: cpu, goal: .2},
	{title: "tools/list of 1,000, cached (the goal: × that of 100)", cases: []string{"CachedList/tools=1000"}, unit: cpu,
		goal: 1.2, over: ours, other: "CachedList/tools=100"},
	{title: "CallToolAs, 1 KiB", cases: []string{"Output/transport=pipe/era=.*/shape=structured/size=1KiB",
		"Output/transport=pipe/era=.*/shape=structured/size=(10|100)KiB"}, unit: cpu, goal: 1},

	{title: "Connect, one call, close; HTTP", cases: []string{"Connect/transport=httpjson/era=.*",
		"Connect/transport=pipe/era=.*"}, unit: cpu, goal: 1.5},
	{title: "Reconnect, until a call has its answer", cases: []string{"Reconnect/transport=pipe/era=.*"}, unit: cpu,
		goal: 1.5},

	{title: "Server on a pipe, × floor", cases: []string{"Server/transport=pipe/era=.*/tool=.*/callers=1"}, unit: cpu,
		goal: 3, over: floor},
	{title: "Server on a pipe, 64 callers, × floor", cases: []string{"Server/transport=pipe/era=.*/tool=.*/callers=64"},
		unit: cpu, goal: 3, over: floor},
	{title: "Server, HTTP, × floor", cases: []string{"Server/transport=httpjson/era=2026-07-28/tool=.*/callers=1"},
		unit: cpu, goal: 1.25, over: floor},
	{title: "Server, HTTP, 64 callers, × floor",
		cases: []string{"Server/transport=httpjson/era=2026-07-28/tool=.*/callers=64"}, unit: cpu, goal: 1.25, over: floor},

	{title: "Proxy: time added to a tiny call", cases: []string{
		"ThroughAProxy/transport=(stdio|httpjson)" + tiny1}, unit: wall, peer: "ours-proxied", over: ours, goal: 100e3,
		how: added},
	{title: "Proxy: a text of 16 MiB, × without", cases: []string{
		"ThroughAProxy/transport=(stdio|httpjson)/era=.*/shape=text/size=16MiB-1/callers=1"}, unit: wall,
		peer: "ours-proxied", over: ours, goal: 1.3},

	{title: "Idle client, HTTP: memory", cases: []string{"IdleClient/transport=httpjson/era=.*/clients=1000"},
		unit: perClient, goal: 5 << 10, how: alone},
	{title: "Idle client, stream: memory", cases: []string{"IdleClient/transport=pipe/era=.*/clients=1000"},
		unit: perClient, goal: 10 << 10, how: alone},
	{title: "Program with a client: size", cases: []string{"Start"}, unit: binary},
	{title: "Program with a client: from its start to the first answer, HTTP", cases: []string{"Start"}, unit: wall},
}

// pictured are the cases of the second table and of the chart.
var pictured = []*row{{cases: []string{"Observed/call=.*", charted}}}
