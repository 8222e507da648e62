package mcpserver

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"github.com/mcpotel/mcpotel/internal/given"
	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/server/engine"
	"github.com/mcpotel/mcpotel/internal/server/rates"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/mcp"
)

// methods returns the protocol methods that the handler supports.
func (p *parts) methods(s *Server) (all []*method) {
	find := unknown
	if s.cfg.NameTargets {
		find = engine.AnyName
	}
	if p.tools != nil {
		all = append(all, &method{Method: named(mcp.MethodListTools), handle: p.listTools},
			&method{Method: targeting(mcp.MethodCallTool, instrument.Tool, find), handle: p.callTool,
				rate: rates.ToolCalls})
	}
	if p.reader != nil {
		all = append(all, &method{Method: named(mcp.MethodListResources), handle: p.listResources},
			&method{Method: named(mcp.MethodListResourceTemplates), handle: p.listTemplates},
			&method{Method: ofResource(mcp.MethodReadResource), handle: p.readResource})
	}
	if p.subscriber != nil {
		all = append(all, &method{Method: ofResource(mcp.MethodSubscribe), handle: s.resources.subscribe, inline: true},
			&method{Method: ofResource(mcp.MethodUnsubscribe), handle: s.resources.unsubscribe, inline: true})
	}
	if p.prompts != nil {
		all = append(all, &method{Method: named(mcp.MethodListPrompts), handle: p.listPrompts},
			&method{Method: targeting(mcp.MethodGetPrompt, instrument.Prompt, find), handle: p.getPrompt})
	}
	if p.completer != nil {
		all = append(all, &method{Method: targeting(mcp.MethodComplete, instrument.Prompt, find), handle: p.complete,
			rate: rates.Completions})
	}
	return all
}

// unknown finds no name: only the handler knows the names, so metrics omit them.
func unknown([]byte) (string, bool) { return "", false }

func (p *parts) listTools(ctx context.Context, c *call) (any, error) {
	return listed(ctx, c, p.tools.ListTools, toolMembers, func(r *mcp.ListToolsResult) (*[]*mcp.Tool, *mcp.CacheHint) {
		r.Tools = withSchemas(r.Tools)
		return &r.Tools, &r.CacheHint
	})
}

// withSchemas returns the tools. A tool without an input schema gets anyArguments, because the protocol requires a
// schema.
func withSchemas(tools []*mcp.Tool) []*mcp.Tool {
	all := make([]*mcp.Tool, len(tools))
	for i, t := range tools {
		if t != nil && t.InputSchema == nil {
			t = new(*t)
			t.InputSchema = anyArguments
		}
		all[i] = t
	}
	return all
}

// anyArguments is the default input schema. It allows any object.
var anyArguments = json.RawMessage(`{"type":"object"}`)

func (p *parts) callTool(ctx context.Context, c *call) (any, error) {
	if c.target == "" {
		return nil, errNoTool
	}
	return c.callTool(ctx, p.caller.CallTool)
}

func (p *parts) listResources(ctx context.Context, c *call) (any, error) {
	var list func(context.Context, *ListRequest) (*mcp.ListResourcesResult, error)
	if p.resources != nil {
		list = p.resources.ListResources
	}
	return listed(ctx, c, list, resourceMembers, func(r *mcp.ListResourcesResult) (*[]*mcp.Resource, *mcp.CacheHint) {
		return &r.Resources, &r.CacheHint
	})
}

func (p *parts) listTemplates(ctx context.Context, c *call) (any, error) {
	var list func(context.Context, *ListRequest) (*mcp.ListResourceTemplatesResult, error)
	if p.templates != nil {
		list = p.templates.ListResourceTemplates
	}
	return listed(ctx, c, list, templateMembers,
		func(r *mcp.ListResourceTemplatesResult) (*[]*mcp.ResourceTemplate, *mcp.CacheHint) {
			return &r.ResourceTemplates, &r.CacheHint
		})
}

func (p *parts) readResource(ctx context.Context, c *call) (any, error) {
	if c.uri == "" {
		return nil, errNoURI
	}
	r, err := c.readResource(ctx, p.reader.ReadResource, nil)
	if err != nil {
		return nil, err
	}
	return r, nil
}

func (p *parts) listPrompts(ctx context.Context, c *call) (any, error) {
	return listed(ctx, c, p.prompts.ListPrompts, promptMembers,
		func(r *mcp.ListPromptsResult) (*[]*mcp.Prompt, *mcp.CacheHint) {
			return &r.Prompts, &r.CacheHint
		})
}

func (p *parts) getPrompt(ctx context.Context, c *call) (any, error) {
	if c.target == "" {
		return nil, errNoPrompt
	}
	return c.getPrompt(ctx, nil, p.getter.GetPrompt)
}

func (p *parts) complete(ctx context.Context, c *call) (any, error) {
	var params mcp.CompleteParams
	if err := given.Decode(c.params, &params); err != nil {
		return nil, rpc.InvalidParams("params: %w", err)
	}
	return c.complete(ctx, &params, p.completer.Complete)
}

// listed answers a list request with the result of list, adapted to the client's revision. If list is nil, the answer
// is an empty list. open returns the entries and the cache hint of a result.
func listed[R, T any](
	ctx context.Context, c *call, list func(context.Context, *ListRequest) (*R, error), members []member[T],
	open func(*R) (*[]*T, *mcp.CacheHint),
) (any, error) {
	var p mcp.PageParams
	if err := given.Decode(c.params, &p); err != nil {
		return nil, rpc.InvalidParams("params: %w", err)
	}
	shown := new(R)
	if list != nil {
		r, err := list(ctx, &ListRequest{RequestInfo: &c.info, Cursor: p.Cursor})
		switch {
		case err != nil:
			return nil, err
		case r != nil:
			*shown = *r
		}
	}
	entries, hint := open(shown)
	*hint = c.hintOf(*hint)
	if c.info.Version.Era() == mcp.Legacy {
		any(shown).(interface{ Base() *mcp.Result }).Base().ResultType = ""
	}
	all := make([]*T, len(*entries))
	for i, e := range *entries {
		if e == nil {
			return nil, rpc.Fail(rpc.ErrInternal, fmt.Errorf("entry %d of the list is nil", i))
		}
		all[i] = inRevision(e, members, c.info.Version)
	}
	*entries = all
	return shown, nil
}

// hintOf fills the unset fields of a list's cache hint with the server's defaults. A legacy client gets no hint.
func (c *call) hintOf(h mcp.CacheHint) mcp.CacheHint {
	if c.info.Version.Era() == mcp.Legacy {
		return mcp.CacheHint{}
	}
	usual := c.x.s.cfg.cacheHint(c.x.Client.Principal)
	return mcp.CacheHint{TTLMs: cmp.Or(h.TTLMs, usual.TTLMs), CacheScope: cmp.Or(h.CacheScope, usual.CacheScope)}
}
