package bounds

// A row describes one thing in memory and its bound. Expressions in braces in its texts are computed from the source:
// {mcpclient.maxItems} is a number, {bytes mcpclient.toolRoom} a size and {time mcpserver.HTTPOptions.Lease} a
// duration. A name is a constant, an initialized variable, or a field of options or a parameter, which stands for its
// default. Names can be multiplied, divided and added: {bytes 2 * mcpclient.toolRoom}.
type row struct {
	what   string   // the thing, in plain words
	where  []string // fields, variables, or functions that make channels
	bound  string
	option string // moves the bound; empty if the bound is fixed
	full   string // the behaviour at the bound
	test   string // the test of the bound

	// weighs is the memory, in bytes, that one peer can make the other end hold here at the defaults, as an expression;
	// empty if it is small, or if the user's own code determines it. The head of the page adds up the weights of each
	// holder.
	weighs string
	holder holder
}

// A holder is the subject of one total.
type holder int

const (
	noTotal   holder = iota
	ofClient         // a client, for one server
	ofAccount        // a server over HTTP, for one account: a principal or an address
	ofServer         // a server over HTTP, for all accounts
	ofStream         // a server, for one client on a stream of its own, such as stdio
)

// An area is a section of the page.
type area struct {
	title string
	intro string
	rows  []row
}

// areas are the sections of the page, in its order.
var areas = []area{
	clientArea, transportArea, authArea, telemetryArea, serverArea, httpArea, taskArea, storeArea, proxyArea, schemaArea,
	viewerArea,
}
