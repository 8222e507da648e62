package mcpserver

import (
	"context"
	"errors"
	"fmt"

	"github.com/mcpotel/mcpotel/mcp"
)

// ListRequest requests one page of a list.
type ListRequest struct {
	*RequestInfo
	Cursor *string // NextCursor of the previous page, which may be empty; nil for the first page
}

// ToolLister is an interface of a handler, together with [ToolCaller]; see [Server.Implement]. A tool without an input
// schema gets a schema that allows any object. Unset fields of the CacheHint, in this list and all others, get the
// defaults of [Options]. Call [Server.ToolsChanged] when the list changes.
type ToolLister interface {
	ListTools(ctx context.Context, r *ListRequest) (*mcp.ListToolsResult, error)
}

// ToolCaller is an interface of a handler, together with [ToolLister]; see [Server.Implement]. CallTool is a
// [ToolHandler] for all tools. For an unknown tool, CallTool should return an [*mcp.Error] with the code -32602.
type ToolCaller interface {
	CallTool(ctx context.Context, r *CallToolRequest) (*mcp.CallToolResult, error)
}

// ResourceLister is an interface of a handler, together with [ResourceReader]; see [Server.Implement]. Without a
// ResourceLister, the list is empty. Call [Server.ResourcesChanged] when the list changes.
type ResourceLister interface {
	ListResources(ctx context.Context, r *ListRequest) (*mcp.ListResourcesResult, error)
}

// ResourceTemplateLister is an interface of a handler, together with [ResourceReader]; see [Server.Implement]. Without
// a ResourceTemplateLister, the list is empty. Call [Server.ResourcesChanged] when the list changes.
type ResourceTemplateLister interface {
	ListResourceTemplates(ctx context.Context, r *ListRequest) (*mcp.ListResourceTemplatesResult, error)
}

// ResourceReader is an interface of a handler, together with [ResourceLister] or [ResourceTemplateLister]; see
// [Server.Implement]. ReadResource is a [ResourceHandler] for all resources, with two differences: the server does not
// fill in a missing URI or MIME type of the contents, and the request has no Variables.
type ResourceReader interface {
	ReadResource(ctx context.Context, r *ReadResourceRequest) (*mcp.ReadResourceResult, error)
}

// ResourceSubscriber is an interface of a handler, together with [ResourceReader]; see [Server.Implement]. Without
// a ResourceSubscriber, clients cannot watch the handler's resources.
//
// The server calls SubscribeResource for each resource that a client starts to watch; call [Server.ResourceUpdated]
// to notify the clients that watch a resource. A legacy client gets the error of SubscribeResource, such as
// [ResourceNotFound]. For a modern client, the server omits the resource from the resources that it confirms. The
// server calls UnsubscribeResource once when the client stops watching the resource: when the client unsubscribes,
// or when its session or subscription ends. At the end of a session or subscription, ctx may have no request. Both
// methods should return quickly, because the server may read no further messages of the client before they return.
// A legacy client may subscribe to a resource several times, and needs to unsubscribe only once.
type ResourceSubscriber interface {
	SubscribeResource(ctx context.Context, uri string) error
	UnsubscribeResource(ctx context.Context, uri string) error
}

// PromptLister is an interface of a handler, together with [PromptGetter]; see [Server.Implement]. Call
// [Server.PromptsChanged] when the list changes.
type PromptLister interface {
	ListPrompts(ctx context.Context, r *ListRequest) (*mcp.ListPromptsResult, error)
}

// PromptGetter is an interface of a handler, together with [PromptLister]; see [Server.Implement]. GetPrompt is a
// [PromptHandler] for all prompts. The server does not check that required arguments are present. For an unknown
// prompt, GetPrompt should return an [*mcp.Error] with the code -32602.
type PromptGetter interface {
	GetPrompt(ctx context.Context, r *GetPromptRequest) (*mcp.GetPromptResult, error)
}

// Completer is an interface of a handler; see [Server.Implement]. Complete is a [CompletionHandler] for all arguments
// of prompts and variables of resource templates. The server does not check that the argument or variable exists.
type Completer interface {
	Complete(ctx context.Context, r *CompleteRequest) ([]string, error)
}

// parts holds the interfaces of a handler. An interface that the handler does not implement is nil.
type parts struct {
	host
	tools      ToolLister
	caller     ToolCaller
	resources  ResourceLister
	templates  ResourceTemplateLister
	reader     ResourceReader
	subscriber ResourceSubscriber
	prompts    PromptLister
	getter     PromptGetter
	completer  Completer
	level      LevelSetter
	declare    CapabilityDeclarer
}

func partsOf(h any) *parts {
	p := new(parts)
	p.init, _ = h.(Initializer)
	p.terminate, _ = h.(Terminator)
	p.capabilities, _ = h.(ClientCapabilitiesHandler)
	p.tools, _ = h.(ToolLister)
	p.caller, _ = h.(ToolCaller)
	p.resources, _ = h.(ResourceLister)
	p.templates, _ = h.(ResourceTemplateLister)
	p.reader, _ = h.(ResourceReader)
	p.subscriber, _ = h.(ResourceSubscriber)
	p.prompts, _ = h.(PromptLister)
	p.getter, _ = h.(PromptGetter)
	p.completer, _ = h.(Completer)
	p.level, _ = h.(LevelSetter)
	p.declare, _ = h.(CapabilityDeclarer)
	return p
}

// check returns an error if the handler has only one half of a pair of interfaces.
func (p *parts) check() error {
	listed := p.resources != nil || p.templates != nil
	switch {
	case *p == parts{}:
		return errors.New("it implements none of the handler interfaces")
	case p.tools != nil && p.caller == nil:
		return half("ListTools", "CallTool")
	case p.caller != nil && p.tools == nil:
		return half("CallTool", "ListTools")
	case p.prompts != nil && p.getter == nil:
		return half("ListPrompts", "GetPrompt")
	case p.getter != nil && p.prompts == nil:
		return half("GetPrompt", "ListPrompts")
	case p.resources != nil && p.reader == nil:
		return half("ListResources", "ReadResource")
	case p.templates != nil && p.reader == nil:
		return half("ListResourceTemplates", "ReadResource")
	case p.reader != nil && !listed:
		return half("ReadResource", "ListResources nor ListResourceTemplates")
	case p.subscriber != nil && p.reader == nil:
		return half("SubscribeResource", "ReadResource")
	}
	return nil
}

func half(has, lacks string) error { return fmt.Errorf("it has %s, but no %s", has, lacks) }

// feature returns the methods and capabilities of the handler.
func (p *parts) feature(s *Server) feature {
	return feature{declare: p.declareAll, methods: p.methods(s)}
}

func (p *parts) declareAll(c *mcp.ServerCapabilities, v mcp.Version) {
	if p.tools != nil {
		declareTools(c, v)
	}
	if p.reader != nil {
		declareResources(c, v)
		c.Resources.Subscribe = p.subscriber != nil
	}
	if p.prompts != nil {
		declarePrompts(c, v)
	}
	if p.completer != nil {
		declareCompletions(c, v)
	}
	if p.declare != nil {
		p.declare.DeclareCapabilities(c, v)
	}
}
