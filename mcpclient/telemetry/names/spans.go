package names

// Names of spans that are not named after a method and target.
const (
	// An attempt to connect.
	SpanMCPClientConnect = "mcp_client.connect"
	// A step of an authorization; the name of the step follows.
	SpanMCPClientAuth = "mcp_client.auth"
	// The work of a task; the name of its tool follows.
	SpanMCPServerTask = "mcp_server.task"
	// A change that the server announces to several clients; its method follows.
	SpanMCPServerChange = "mcp_server.change"
)
