package names

// Names of the spans that are not named after their method and target.
const (
	// An attempt to connect.
	SpanMCPClientConnect = "mcp_client.connect"
	// A step of an authorization, whose name follows.
	SpanMCPClientAuth = "mcp_client.auth"
	// The work of a task, whose tool's name follows.
	SpanMCPServerTask = "mcp_server.task"
	// A change that several clients are notified of, whose method follows.
	SpanMCPServerChange = "mcp_server.change"
)
