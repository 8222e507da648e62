package mcpclient

import (
	"errors"

	"github.com/mcpotel/mcpotel/internal/given"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/internal/jsonscan"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/instrument"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// call is what a user asks for: one request after the other, until there is a result. Each layer of the way keeps what
// it knows of the call in a part of its own. A call belongs to its caller, and is pooled: nothing may keep a pointer to
// one beyond its end.
type call struct {
	request
	c       *Client
	params  any
	result  any // takes the result; nil ignores it
	asked   asked
	scratch []byte // the encoded params, while the request is made; its memory is kept with the call

	keeping keeping
	input   inputRounds
	visits  int // how often the server has sent the user to URLs first
	tasks   taskCall
}

// newCall returns a call of the client's own pool: a channel that was made in one bubble of a test cannot be used in
// another.
func (c *Client) newCall(method string, params any) *call {
	cl, _ := c.pool.Get().(*call)
	if cl == nil {
		cl = &call{c: c, request: newRequest(&c.core)}
		cl.content, cl.inline = cl, cl.waitsInline
	}
	cl.method, cl.params = method, params
	return cl
}

// keptFrame bounds the memory that a pooled call keeps for the next request.
const keptFrame = 64 << 10

// free puts a call back. Its outcome has been received, or will never be sent.
func (c *Client) free(cl *call) {
	*cl = call{c: c, request: cl.request.cleared(), scratch: cl.scratch[:0]}
	if cap(cl.frame)+cap(cl.scratch) > keptFrame {
		cl.frame, cl.scratch = nil, nil
	}
	c.pool.Put(cl)
}

// apply takes the options.
func (cl *call) apply(options []CallOption) {
	cl.asked.apply(options)
	cl.sending = cl.asked.sending
}

// encode encodes the request for session s.
func (cl *call) encode(s *session) *fault {
	if cl.asked.lead != nil {
		cl.asked.lead.id = cl.id
	}
	if cl.input.rounds > 0 && !s.era.asks() {
		return &fault{Kind: kindProtocol, Op: cl.method,
			Cause: errors.New("the server that asked for input has become one of the legacy era")}
	}
	cl.beginKeeping(s)
	if err := cl.encodeFor(s); err != nil {
		return &fault{Kind: kindInvalid, Op: cl.method, Unsent: true, Cause: err}
	}
	cl.name = cl.nameFor(s.version)
	return nil
}

func (cl *call) encodeFor(s *session) error {
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
	if cl.op.Captures() {
		arguments, _ := mcp.Object(cl.scratch).Lookup("arguments")
		cl.op.Arguments(arguments)
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
	return cl.write(appendRequest, s, meta, cl.scratch)
}

// nameFor returns what HTTP puts into the header Mcp-Name. Params of the caller's own are read as they are encoded.
func (cl *call) nameFor(v mcp.Version) string {
	if name := mcp.TargetOf(cl.params); name != "" || len(cl.scratch) == 0 {
		return name
	}
	m, ok := mcp.Lookup(cl.method, v)
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

// about describes the request.
func (cl *call) about() instrument.Request {
	r := instrument.Request{Method: cl.method, Corr: cl.corr, Link: cl.ref, Round: cl.input.rounds}
	switch p := cl.params.(type) {
	case *mcp.CallToolParams:
		r.TargetKind, r.Target = instrument.Tool, p.Name
		r.Stranger = cl.c.core.tel != nil && cl.c.tools.stranger(p.Name)
	case *mcp.GetPromptParams:
		r.TargetKind, r.Target = instrument.Prompt, p.Name
	case *mcp.ReadResourceParams:
		r.URI = p.URI
	case *mcp.SubscribeParams:
		r.URI = p.URI
	case *mcp.UnsubscribeParams:
		r.URI = p.URI
	}
	return r
}

// started hears that the operation of the request has begun.
func (cl *call) started() {
	if cl.asked.lead == nil {
		return
	}
	if cl.asked.lead.mismatch {
		cl.op.Retry(names.RetryHeaderMismatch)
	}
	*cl.asked.lead = lead{corr: cl.corr, ref: cl.ref}
}

// ended describes the end of the request.
func (cl *call) ended(err *fault) instrument.Result {
	switch {
	case err == nil && cl.input.required != nil:
		return instrument.Result{ResultType: string(mcp.ResultInputRequired)}
	case err == nil && cl.tasks.made != nil:
		return instrument.Result{ResultType: string(mcp.ResultTask)}
	}
	if err != nil {
		return err.result()
	}
	r := instrument.Result{ResultType: resultTypeOf(cl.result)}
	if tool, ok := cl.result.(*mcp.CallToolResult); ok {
		r.ToolError = tool.IsError
	}
	return r
}
