package mcpserver

import "sync/atomic"

// toolRequest holds the CallToolRequest of a call. It is part of the call, because the CallToolRequest refers to the
// call anyway: a separate allocation was one of the twelve allocations of a call on a pipe.
type toolRequest struct {
	first CallToolRequest
	taken atomic.Bool
}

// of returns the CallToolRequest for the handler, which owns it from then on. Only the first handler gets r.first;
// handlers of later rounds, and those that a middleware calls again, get a new one.
func (r *toolRequest) of(c *call) *CallToolRequest {
	asked := &r.first
	if r.taken.Swap(true) {
		asked = new(CallToolRequest)
	}
	*asked = CallToolRequest{RequestInfo: &c.info, Name: c.target, Arguments: c.arguments}
	return asked
}
