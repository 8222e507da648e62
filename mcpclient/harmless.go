package mcpclient

import (
	"github.com/mcpotel/mcpotel/internal/client/methods"
	"github.com/mcpotel/mcpotel/mcp"
)

// Harmless reports whether the server may do twice what the call asks for. Of a tool it has to have said so itself, in
// the list of its tools: readOnlyHint or idempotentHint. A server that says so of a tool that is not is the one to bear
// it. Each task is one more.
func (cl *call) Harmless() bool {
	if cl.Method != mcp.MethodCallTool {
		return methods.Harmless(cl.Method)
	}
	t, _ := cl.c.tools.find(cl.Target)
	return t != nil && t.harmless && cl.asked.asTask == nil
}
