package mcpserver

import (
	"context"
	"errors"
	"fmt"

	"github.com/mcpotel/mcpotel/mcp"
)

// ListRequest asks for a page of a list.
type ListRequest struct {
	*RequestInfo
	Cursor *string // NextCursor of the page before, which may be empty; nil for the first page
}

// ToolLister is a part of a handler that goes with a [ToolCaller]; see [Server.Implement]. A tool without an input
// schema is shown with that of any object. What CacheHint leaves open is as [Options] have it; so it is for all lists.
// When the list changes, [Server.ToolsChanged] tells clients.
type ToolLister interface {
	ListTools(ctx context.Context, r *ListRequest) (*mcp.ListToolsResult, error)
}

// ToolCaller is a part of a handler that goes with a [ToolLister]; see [Server.Implement]. CallTool is a [ToolHandler]
// for all tools; it refuses one that does not exist with an [*mcp.Error] of the code -32602.
type ToolCaller interface {
	CallTool(ctx context.Context, r *CallToolRequest) (*mcp.CallToolResult, error)
}

// ResourceLister is a part of a handler that goes with a [ResourceReader]; see [Server.Implement]. Without one, the
// list is empty. When it changes, [Server.ResourcesChanged] tells clients.
type ResourceLister interface {
	ListResources(ctx context.Context, r *ListRequest) (*mcp.ListResourcesResult, error)
}

// ResourceTemplateLister is a part of a handler that goes with a [ResourceReader]; see [Server.Implement]. Without one,
// the list is empty. When it changes, [Server.ResourcesChanged] tells clients.
type ResourceTemplateLister interface {
	ListResourceTemplates(ctx context.Context, r *ListRequest) (*mcp.ListResourceTemplatesResult, error)
}

// ResourceReader is a part of a handler that goes with one that lists resources; see [Server.Implement]. ReadResource
// is a [ResourceHandler] for all resources, but for what that says of contents without a URI or a MIME type: they are
// sent as they are. The request has no Variables.
type ResourceReader interface {
	ReadResource(ctx context.Context, r *ReadResourceRequest) (*mcp.ReadResourceResult, error)
}

// ResourceSubscriber is a part of a handler that goes with a [ResourceReader]; see [Server.Implement]. Without it, no
// resource can be watched.
//
// SubscribeResource hears of each resource that a client wants to watch; [Server.ResourceUpdated] tells those who do.
// An error, [ResourceNotFound] for example, goes to a legacy client; a modern one finds that resource missing among
// those that it may watch. UnsubscribeResource hears of it once when the client does not watch the resource any more:
// because it says so, or because its session or subscription has ended; ctx may have no request then. Both should be
// quick: what the client sends after that may not be read meanwhile. A legacy client may subscribe several times, and
// needs to unsubscribe once only.
type ResourceSubscriber interface {
	SubscribeResource(ctx context.Context, uri string) error
	UnsubscribeResource(ctx context.Context, uri string) error
}

// PromptLister is a part of a handler that goes with a [PromptGetter]; see [Server.Implement]. When the list changes,
// [Server.PromptsChanged] tells clients.
type PromptLister interface {
	ListPrompts(ctx context.Context, r *ListRequest) (*mcp.ListPromptsResult, error)
}

// PromptGetter is a part of a handler that goes with a [PromptLister]; see [Server.Implement]. GetPrompt is a
// [PromptHandler] for all prompts; nothing says that arguments which one requires are there. It refuses a prompt that
// does not exist with an [*mcp.Error] of the code -32602.
type PromptGetter interface {
	GetPrompt(ctx context.Context, r *GetPromptRequest) (*mcp.GetPromptResult, error)
}

// Completer is a part of a handler; see [Server.Implement]. Complete is a [CompletionHandler] for all arguments of
// prompts and variables of resource templates. Nothing says that the client asks about one that exists.
type Completer interface {
	Complete(ctx context.Context, r *CompleteRequest) ([]string, error)
}

// parts are the interfaces that a handler has, nil for those that it lacks.
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

// check says what is missing.
func (p *parts) check() error {
	listed := p.resources != nil || p.templates != nil
	switch {
	case *p == parts{}:
		return errors.New("it has none of the methods of a handler")
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

// feature returns what the handler answers and declares.
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
