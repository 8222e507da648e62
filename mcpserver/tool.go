package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/mirror"
	"github.com/mcpotel/mcpotel/internal/schema"
	"github.com/mcpotel/mcpotel/internal/server/rates"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/mcp"
)

// toolMethods are reserved for tools: HandleRequest refuses these methods even if the server has no tools.
var toolMethods = []string{mcp.MethodListTools, mcp.MethodCallTool}

// CallToolRequest is a call of a tool.
type CallToolRequest struct {
	*RequestInfo
	Name      string
	Arguments json.RawMessage // a JSON object, not checked against any schema; nil without arguments
}

// ToolHandler handles the calls of one tool. A nil result is an empty result. An error of type [*mcp.Error] refuses
// the request. The server sends the text of any other error as a result with isError, which the client's model reads.
// ctx ends when the client cancels the call, when the connection ends or when the server's time limit has passed.
//
// Calls run concurrently, each in a goroutine that does nothing else until the handler returns. If the handler has
// been quick so far, this may be the goroutine that reads the connection. When the handler then takes longer than a
// millisecond, or asks the client for something, another goroutine continues to read.
type ToolHandler func(ctx context.Context, r *CallToolRequest) (*mcp.CallToolResult, error)

// AddTool adds a tool whose handler gets the raw arguments and creates the result itself. The function [AddTool] adds
// a tool whose handler gets and returns Go values. The schemas of t must be valid; the default input schema accepts
// any object. The server validates arguments and results against the schemas only with [CheckArguments].
//
// Connected clients get a notification of the changed list. AddTool returns an error if a tool of that name exists.
func (s *Server) AddTool(t *mcp.Tool, h ToolHandler, options ...ToolOption) error {
	if h == nil {
		return errors.New("add tool: no handler")
	}
	added, input, output, err := rawTool(t)
	if err != nil {
		return err
	}
	o := toolOptionsOf(options)
	if o.checked {
		h = checked(h, input, output)
	}
	return s.addTool(added, o, h, func(_ context.Context, r *CallToolRequest) (taskWork, error) {
		return func(ctx context.Context) (*mcp.CallToolResult, error) { return h(ctx, r) }, nil
	})
}

// ToolOption configures one tool: [TaskTool], [TaskWhenAsked], [TaskAfter], [TaskTTL] and [CheckArguments].
type ToolOption func(*toolOptions)

// toolOptions holds the options of a tool.
type toolOptions struct {
	checked bool
	task    *taskTool // nil unless calls may become tasks
}

func toolOptionsOf(options []ToolOption) toolOptions {
	var o toolOptions
	for _, option := range options {
		option(&o)
	}
	return o
}

// CheckArguments makes the server validate the calls of a tool with raw JSON ([Server.AddTool]) in the same way as the
// calls of a tool that the function [AddTool] has added. The server fills in defaults, and does not call the handler
// with arguments that violate the input schema. Structured content that violates the output schema is an internal
// error. If a call becomes a task, the validation is part of the task.
func CheckArguments() ToolOption { return func(o *toolOptions) { o.checked = true } }

// checked returns a handler that validates arguments and results around h.
func checked(h ToolHandler, input, output *schema.Schema) ToolHandler {
	return func(ctx context.Context, r *CallToolRequest) (*mcp.CallToolResult, error) {
		arguments, err := fitting(ctx, input, r.Arguments)
		if err != nil {
			return nil, invalidArguments(ctx, err)
		}
		out, err := h(ctx, &CallToolRequest{RequestInfo: r.RequestInfo, Name: r.Name, Arguments: arguments})
		if err != nil {
			return nil, err
		}
		return resultOf(ctx, out, output)
	}
}

// addTool registers a tool with its handler. bind replaces h for a call that becomes a task.
func (s *Server) addTool(t *mcp.Tool, o toolOptions, h ToolHandler, bind bindTask) error {
	if o.task != nil {
		o.task.bind = bind
		if err := s.tasks.offerTool(t, o.task); err != nil {
			return err
		}
	}
	return s.tools.register(t, h, o.task)
}

// rawTool returns a copy of t for a handler that gets the raw arguments, and its compiled schemas.
func rawTool(t *mcp.Tool) (added *mcp.Tool, input, output *schema.Schema, err error) {
	if added, err = copyTool(t); err != nil {
		return nil, nil, nil, err
	}
	if added.InputSchema == nil {
		added.InputSchema = anyArguments
	}
	input, output, err = compileSchemas(added)
	return added, input, output, err
}

// RemoveTools removes tools by name. Calls in progress continue. Connected clients get a notification if the list has
// changed.
func (s *Server) RemoveTools(names ...string) {
	if s.tools.remove(names...) {
		s.changed(notice{method: mcp.NotificationToolListChanged})
	}
}

// tool is a tool of a server.
type tool struct {
	numbered
	*mcp.Tool
	handle   ToolHandler
	task     *taskTool      // nil unless calls may become tasks
	mirrored []mirror.Param // arguments that HTTP clients repeat in headers
	views    views
	pace     rpc.Pace
}

func (t *tool) key() string { return t.Name }

// numbered stores the number of a registry entry.
type numbered struct{ n int64 }

func (e *numbered) number() int64  { return e.n }
func (e *numbered) enroll(n int64) { e.n = n }

// copyTool checks the name of t, and returns a copy that shares no memory with t.
func copyTool(t *mcp.Tool) (*mcp.Tool, error) {
	if t == nil {
		return nil, errors.New("add tool: no tool")
	}
	if err := checkToolName(t.Name); err != nil {
		return nil, err
	}
	c := *t
	c.Meta, c.Icons = bytes.Clone(t.Meta), slices.Clone(t.Icons)
	c.InputSchema, c.OutputSchema = bytes.Clone(t.InputSchema), bytes.Clone(t.OutputSchema)
	if t.Annotations != nil {
		c.Annotations = new(*t.Annotations)
	}
	if t.Execution != nil {
		c.Execution = new(*t.Execution)
	}
	return &c, nil
}

// compileSchemas compiles the schemas of a tool. output is nil if the tool has no output schema.
func compileSchemas(t *mcp.Tool) (input, output *schema.Schema, err error) {
	input, err = schema.Compile(t.InputSchema)
	if err == nil && !input.IsObject() {
		err = errors.New(`"type" is not "object"`)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("add tool %s: input schema: %w", t.Name, err)
	}
	if t.OutputSchema == nil {
		return input, nil, nil
	}
	if output, err = schema.Compile(t.OutputSchema); err != nil {
		return nil, nil, fmt.Errorf("add tool %s: output schema: %w", t.Name, err)
	}
	return input, output, nil
}

// checkToolName checks a name against the recommendations of the specification.
// (specification 2026-07-28, server/tools, "Tool Names")
func checkToolName(name string) error {
	if name == "" {
		return errors.New("add tool: the tool has no name")
	}
	if len(name) > 128 {
		return fmt.Errorf("add tool: name of %d characters, want 128 at most", len(name))
	}
	for _, r := range name {
		if r != '_' && r != '-' && r != '.' && (r < '0' || r > '9') && (r|0x20 < 'a' || r|0x20 > 'z') {
			return fmt.Errorf("add tool: name %q has a character other than letters, digits, '_', '-' and '.'", name)
		}
	}
	return nil
}

// tools holds the tools of a server.
type tools struct {
	s *Server
	registry[*tool]
	offered offering
}

// register adds a tool. Its calls may become tasks if task is not nil.
func (t *tools) register(info *mcp.Tool, h ToolHandler, task *taskTool) error {
	mirrored, err := mirror.Params(info.InputSchema)
	if err != nil {
		return fmt.Errorf("add tool %s: input schema: %w", info.Name, err) // clients would not show such a tool
	}
	added := &tool{Tool: info, handle: h, task: task, mirrored: mirrored}
	if _, err := added.view(mcp.Version20260728); err != nil {
		return fmt.Errorf("add tool %s: %w", info.Name, err)
	}
	if err := t.offer(); err != nil {
		return fmt.Errorf("add tool %s: %w", info.Name, err)
	}
	if !t.add(added) {
		return fmt.Errorf("add tool %s: a tool with this name already exists", info.Name)
	}
	t.s.changed(notice{method: mcp.NotificationToolListChanged})
	return nil
}

// offer registers the methods of tools, once.
func (t *tools) offer() error {
	return t.offered.offer(&t.s.methods, feature{declare: declareTools, methods: []*method{
		{Method: named(mcp.MethodListTools), handle: t.list, pace: rpc.OnePace()},
		{Method: targeting(mcp.MethodCallTool, instrument.Tool, t.find), handle: t.call, rate: rates.ToolCalls,
			pace: t.paceOf},
	}})
}

// declareTools declares tools and notifications of a changed list.
func declareTools(c *mcp.ServerCapabilities, _ mcp.Version) {
	if c.Tools == nil {
		c.Tools = new(mcp.ListCapability)
	}
	c.Tools.ListChanged = true
}

// list answers tools/list. (specification 2026-07-28, server/tools, "Listing Tools")
func (t *tools) list(_ context.Context, c *call) (any, error) {
	return pageOf(c, &t.registry, "tools", (*tool).view)
}

// paceOf returns the pace of a tool. It returns nil for an unknown tool and for a tool whose calls may become tasks.
func (t *tools) paceOf(name string) *rpc.Pace {
	if known, ok := t.lookup(name); ok && known.task == nil {
		return &known.pace
	}
	return nil
}

// call answers tools/call. (specification 2026-07-28, server/tools, "Calling Tools")
func (t *tools) call(ctx context.Context, c *call) (any, error) {
	named, ok := t.lookup(c.target)
	switch {
	case ok && named.task != nil && c.objectArguments():
		return t.s.tasks.call(ctx, c, named)
	case ok && named.task == nil && c.wantsTask():
		return nil, c.refuseTask(named)
	case ok:
		return c.callTool(ctx, named.handle)
	case c.target == "":
		return nil, errNoTool
	}
	return nil, rpc.InvalidParams("unknown tool: %s", c.target)
}

var (
	errNoTool      = rpc.InvalidParams("params.name is missing or not a string")
	errNoArguments = rpc.InvalidParams("params.arguments is not an object")
)

// callTool calls h, the handler of the requested tool.
func (c *call) callTool(ctx context.Context, h ToolHandler) (any, error) {
	if !c.objectArguments() {
		return nil, errNoArguments
	}
	c.Op.ToolBegins()
	r, err := h(ctx, c.asked.of(c))
	answer, refused := toolAnswer(ctx, r, err, c.info.Version)
	c.Op.ToolEnds(toolRun(ctx, err, refused))
	return answer, refused
}

// toolRun returns whether a tool ran whose handler has returned err. refused is the error in the answer; nil for a
// result.
func toolRun(ctx context.Context, err, refused error) instrument.ToolRun {
	_, invalid := errors.AsType[*argumentsError](err)
	switch {
	case err == nil:
		return instrument.Ran
	case invalid: // the arguments were checked before the tool's own code
		return instrument.DidNotRun
	case refused != nil, ctx.Err() != nil:
		return instrument.MayHaveRun
	}
	return instrument.Ran
}

// objectArguments reports whether the arguments of a call are an object or missing.
func (c *call) objectArguments() bool { return c.arguments == nil || c.arguments[0] == '{' }

// toolAnswer returns the answer to a call whose handler returned r and err.
func toolAnswer(ctx context.Context, r *mcp.CallToolResult, err error, v mcp.Version) (any, error) {
	if err != nil {
		return toolError(rpc.CauseOf(ctx, err), v)
	}
	if r == nil {
		r = new(mcp.CallToolResult)
	}
	return r, nil
}

// toolError returns the answer to a call whose handler returned err.
func toolError(err error, v mcp.Version) (any, error) {
	if _, ok := errors.AsType[*mcp.Error](err); ok {
		return nil, err
	}
	if invalid, ok := errors.AsType[*argumentsError](err); ok && v < mcp.Version20251125 {
		return nil, invalid.refusal()
	}
	return &mcp.CallToolResult{Content: mcp.ContentList{mcp.Text(err.Error())}, IsError: true}, nil
}

// toolRequest holds the CallToolRequest of a call inside the call, which the CallToolRequest refers to anyway. This
// saves one of the twelve allocations of a call on a pipe.
type toolRequest struct {
	first CallToolRequest
	taken atomic.Bool
}

// of returns the CallToolRequest for the handler, which owns it from then on. The first handler gets r.first. Handlers
// of later rounds, and handlers that a middleware calls again, get a new CallToolRequest.
func (r *toolRequest) of(c *call) *CallToolRequest {
	asked := &r.first
	if r.taken.Swap(true) {
		asked = new(CallToolRequest)
	}
	*asked = CallToolRequest{RequestInfo: &c.info, Name: c.target, Arguments: c.arguments}
	return asked
}
