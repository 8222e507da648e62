package mcpclient

import "github.com/mcpotel/mcpotel/mcp"

// harmless are the methods with which a server may do twice what it is asked once: they read, or set what stays set.
var harmless = map[string]bool{
	mcp.MethodInitialize: true, mcp.MethodDiscover: true, mcp.MethodPing: true,
	mcp.MethodListTools: true, mcp.MethodListPrompts: true, mcp.MethodGetPrompt: true, mcp.MethodComplete: true,
	mcp.MethodListResources: true, mcp.MethodListResourceTemplates: true, mcp.MethodReadResource: true,
	mcp.MethodSubscribe: true, mcp.MethodUnsubscribe: true, mcp.MethodSubscriptionsListen: true, mcp.MethodSetLevel: true,
	mcp.MethodGetTask: true, mcp.MethodTaskResult: true, mcp.MethodListTasks: true, mcp.MethodCancelTask: true,
}

// Harmless reports whether the server may do twice what the call asks for. Of a tool it has to have said so itself, in
// the list of its tools: readOnlyHint or idempotentHint. A server that says so of a tool that is not is the one to bear
// it. Each task is one more.
func (cl *call) Harmless() bool {
	if cl.Method != mcp.MethodCallTool {
		return harmless[cl.Method]
	}
	t, _ := cl.c.tools.find(cl.Target)
	return t != nil && t.harmless && cl.asked.asTask == nil
}
