package mcpclient

import (
	"encoding/json"
	"errors"

	"github.com/mcpotel/mcpotel/internal/client/conn"
	"github.com/mcpotel/mcpotel/internal/given"
	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/internal/jsonscan"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// call is a call of a user: it makes requests until there is a result. Each layer keeps its state of the call in a
// part of its own. A call belongs to its caller, and is pooled: no code may keep a pointer to it after its end.
type call struct {
	conn.Request
	c       *Client
	params  any
	result  any // destination of the result; nil ignores it
	asked   asked
	scratch []byte // encoded params during the request; the memory is kept for the next call

	keeping keeping
	input   inputRounds
	visits  int  // how often the server has required visits to URLs
	anew    bool // the next request is a retry
	tasks   taskCall
	loop    loopCall
}

// newCall returns a call from the client's own pool, because a channel that was created in one bubble of a test
// cannot be used in another.
func (c *Client) newCall(method string, params any) *call {
	cl, _ := c.pool.Get().(*call)
	if cl == nil {
		cl = &call{c: c, Request: conn.NewRequest(&c.core)}
		cl.Content = cl
	}
	cl.Method, cl.params = method, params
	return cl
}

// keptFrame bounds the memory that a pooled call keeps for the next request. Keeping the memory of 112 KiB of
// arguments, and of their encoder, saves a quarter of the CPU time of their call on stdio.
const keptFrame = 512 << 10

// free returns a call to the pool. Its outcome has been received, or will never be sent.
func (c *Client) free(cl *call) {
	*cl = call{c: c, Request: cl.Request.Cleared(), scratch: cl.scratch[:0]}
	if cap(cl.Frame)+cap(cl.scratch) > keptFrame {
		cl.Frame, cl.scratch = nil, nil
	}
	c.pool.Put(cl)
}

// apply applies the options.
func (cl *call) apply(options []CallOption) {
	cl.asked.apply(options)
	cl.Sending = cl.asked.Sending
}

// Encode encodes the request for session s.
func (cl *call) Encode(s *conn.Session) *conn.Fault {
	if cl.asked.lead != nil {
		cl.asked.lead.id = cl.ID
	}
	if cl.input.rounds > 0 && !s.Era.Asks() {
		return &conn.Fault{Kind: conn.KindProtocol, Op: cl.Method,
			Cause: errors.New("the server that asked for input has become one of the legacy era")}
	}
	cl.beginKeeping(s)
	if err := cl.encodeFor(s); err != nil {
		return &conn.Fault{Kind: conn.KindInvalid, Op: cl.Method, Unsent: true, Cause: err}
	}
	cl.Name = cl.nameFor(s.Version)
	if cl.loop.watched && cl.input.rounds == 0 {
		return cl.c.cfg.loops.admit(cl)
	}
	return nil
}

func (cl *call) encodeFor(s *conn.Session) error {
	var err error
	cl.scratch = cl.scratch[:0]
	appendRequest := jsonrpc.AppendRequest
	if params := cl.paramsFor(s); params != nil {
		if cl.scratch, err = mcp.AppendParams(cl.scratch, params); err != nil {
			return err
		}
		if err = given.CheckEncoded(params, cl.scratch); err != nil {
			return err
		}
		if _, own := params.(*mcp.CallToolParams); own {
			appendRequest = jsonrpc.AppendOwnRequest
		}
	}
	if cl.Op.Captures() {
		arguments, _ := mcp.Object(cl.scratch).Lookup("arguments")
		cl.Op.Arguments(arguments)
	}
	if cl.input.rounds > 0 {
		appendRequest = jsonrpc.AppendRequest
		if cl.scratch, err = withInput(cl.scratch, cl.input.given); err != nil {
			return err
		}
	}
	if err = given.CheckMeta(cl.asked.meta); err != nil {
		return err
	}
	meta, err := cl.withLogLevel(s, cl.asked.meta)
	if err != nil {
		return err
	}
	return cl.Write(appendRequest, s, meta, cl.scratch)
}

// nameFor returns the value of the HTTP header Mcp-Name. It reads the encoded form of params of the caller's own
// type.
func (cl *call) nameFor(v mcp.Version) string {
	if name := mcp.TargetOf(cl.params); name != "" || len(cl.scratch) == 0 {
		return name
	}
	m, ok := mcp.Lookup(cl.Method, v)
	if !ok || m.Target.Member() == "" {
		return ""
	}
	for o := jsonscan.ObjectAt(cl.scratch, 0); o.Next(); {
		if string(o.Key()) == m.Target.Member() {
			name, _ := jsonrpc.Text(o.Raw())
			return name
		}
	}
	return ""
}

// About describes the request.
func (cl *call) About() instrument.Request {
	r := instrument.Request{Method: cl.Method, Corr: cl.Corr, Link: cl.Ref, Round: cl.input.rounds, Reissue: cl.anew,
		Attributes: cl.asked.spanAttributes}
	switch p := cl.params.(type) {
	case *mcp.CallToolParams:
		r.TargetKind, r.Target = instrument.Tool, p.Name
		r.Stranger = cl.c.core.Telemetry != nil && cl.c.tools.stranger(p.Name)
	case *mcp.GetPromptParams:
		r.TargetKind, r.Target = instrument.Prompt, p.Name
	case *mcp.CompleteParams:
		if p.Ref.Type == mcp.RefPrompt {
			r.TargetKind, r.Target = instrument.Prompt, p.Ref.Name
		}
	case *mcp.ReadResourceParams:
		r.URI = p.URI
	case *mcp.SubscribeParams:
		r.URI = p.URI
	case *mcp.UnsubscribeParams:
		r.URI = p.URI
	}
	return r
}

// saysError reports whether the JSON text of a tool's result has isError set.
func saysError(result json.RawMessage) bool {
	failed, _ := mcp.Object(result).Lookup("isError")
	return string(failed) == "true"
}

// Started records that the operation of the request has begun.
func (cl *call) Started() {
	cl.anew = false
	if cl.asked.mismatch {
		cl.asked.mismatch = false
		cl.Op.Retry(names.RetryHeaderMismatch)
	}
	if cl.asked.lead != nil {
		*cl.asked.lead = lead{corr: cl.Corr, ref: cl.Ref}
	}
}

// Ended describes the end of the request.
func (cl *call) Ended(err *conn.Fault) instrument.Result {
	if cl.loop.watched {
		cl.c.cfg.loops.observe(cl, err)
	}
	switch {
	case err == nil && cl.input.required != nil:
		return instrument.Result{ResultType: string(mcp.ResultInputRequired)}
	case err == nil && cl.tasks.made != nil:
		return instrument.Result{ResultType: string(mcp.ResultTask)}
	}
	if err != nil {
		return err.Result()
	}
	r := instrument.Result{ResultType: conn.ResultTypeOf(cl.result)}
	switch result := cl.result.(type) {
	case *mcp.CallToolResult:
		r.ToolError = result.IsError
	case *json.RawMessage:
		r.ToolError = cl.Method == mcp.MethodCallTool && saysError(*result)
	}
	return r
}
