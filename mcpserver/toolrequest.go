package mcpserver

import "sync/atomic"

// toolRequest has what the handler of a tool gets. It is a part of the call, which that points to anyway. To allocate
// it by itself was one of twelve allocations of a call on a pipe.
type toolRequest struct {
	first CallToolRequest
	taken atomic.Bool
}

// of returns what the handler gets, which belongs to it from then on: only the first round has it from r, and only one
// of the handlers that a middleware calls.
func (r *toolRequest) of(c *call) *CallToolRequest {
	asked := &r.first
	if r.taken.Swap(true) {
		asked = new(CallToolRequest)
	}
	*asked = CallToolRequest{RequestInfo: &c.info, Name: c.target, Arguments: c.arguments}
	return asked
}
