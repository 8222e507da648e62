package mcpclient

import (
	"github.com/mcpotel/mcpotel/internal/client/methods"
	"github.com/mcpotel/mcpotel/mcp"
)

// Harmless reports whether the call is idempotent. A tool is idempotent if the server lists it with readOnlyHint
// or idempotentHint; the client trusts the server. A call that asks for a task is not idempotent, because each
// creates a task.
func (cl *call) Harmless() bool {
	if cl.Method != mcp.MethodCallTool {
		return methods.Harmless(cl.Method)
	}
	t, _ := cl.c.tools.find(cl.Target)
	return t != nil && t.harmless && cl.asked.asTask == nil
}
