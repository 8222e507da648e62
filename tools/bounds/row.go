package bounds

// A row is one thing that is held in memory, and its bound. In its texts, what stands in braces is computed from the
// source: {mcpclient.maxItems} is a number, {bytes mcpclient.toolRoom} a size and {time mcpserver.HTTPOptions.Lease} a
// duration. A name there is a constant, a variable that begins as one, or a field of options or a parameter, which
// stands for its default. Names can be multiplied, divided and added: {bytes 2 * mcpclient.toolRoom}.
type row struct {
	what   string   // in plain words
	where  []string // fields, variables, or functions that make channels
	bound  string
	option string // that moves the bound, empty if it is fixed
	full   string // what happens at the bound
	test   string // that holds it

	// What one peer can make the other end hold here at the defaults, in bytes, as an expression; empty if it is small, or
	// if what is held is the user's. Those of a holder are added up at the head of the page.
	weighs string
	holder holder
}

// A holder is one of the totals.
type holder int

const (
	noTotal   holder = iota
	ofClient         // what a client holds for one server
	ofAccount        // what a server holds over HTTP for one account: a principal or an address
	ofServer         // what a server holds over HTTP for all of them
	ofStream         // what a server holds for one client on a stream of its own, such as stdio
)

// An area is a section of the page.
type area struct {
	title string
	intro string
	rows  []row
}

// areas are the sections in the order of the page.
var areas = []area{
	clientArea, transportArea, authArea, telemetryArea, serverArea, httpArea, taskArea, storeArea, proxyArea, schemaArea,
	viewerArea,
}
