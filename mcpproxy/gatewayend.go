package mcpproxy

import (
	"context"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// hostEnd is the gateway's server for one host, or for all hosts over HTTP.
type hostEnd struct {
	g      *Gateway
	own    *hostGroup        // nil over HTTP, where each session has its own group
	server *mcpserver.Server // set before the server serves
}

// offered declares the gateway's features. Requests for lists, calls, prompts and resources never reach it, because
// [hostEnd.between] answers them.
type offered struct {
	*hostEnd
	mcpserver.ToolLister
	mcpserver.ToolCaller
	mcpserver.PromptLister
	mcpserver.PromptGetter
	mcpserver.ResourceLister
	mcpserver.ResourceTemplateLister
	mcpserver.ResourceReader
}

type groupKey struct{}

// Init connects to the members for a host that opens a session. Over HTTP it waits for the first request after
// initialize, so that a host that sends only initialize costs little.
func (e *hostEnd) Init(_ context.Context, s *mcpserver.Session) error {
	if e.own != nil {
		return e.own.connect(s.ClientCapabilities(), s, e.server)
	}
	h, err := e.g.newGroup()
	if err == nil {
		s.SetValue(groupKey{}, h)
	}
	return err
}

// Terminate closes the clients that Init started.
func (e *hostEnd) Terminate(_ context.Context, s *mcpserver.Session, _ error) {
	if h, ok := s.Value(groupKey{}).(*hostGroup); ok {
		_ = h.stop((*mcpclient.Group).Close) // best effort: the host has left
	}
}

// groupOf returns the hostGroup of a session, or nil.
func (e *hostEnd) groupOf(s *mcpserver.Session) *hostGroup {
	if e.own != nil {
		return e.own
	}
	if h, ok := s.Value(groupKey{}).(*hostGroup); ok {
		return h
	}
	e.g.mu.Lock()
	defer e.g.mu.Unlock()
	return e.g.shared
}

// group returns the hostGroup of a request's host. If necessary, it connects to the members.
func (e *hostEnd) group(r *mcpserver.Request) (*hostGroup, error) {
	h := e.groupOf(r.Session())
	if h == nil {
		return nil, errGatewayStopped
	}
	if err := h.connect(r.ClientCapabilities(), r.Session(), e.server); err != nil {
		return nil, err
	}
	h.setLevel(r.Session().LogLevel())
	return h, nil
}

// between is a middleware of the server. If members answer a request, it passes the request on to them.
func (e *hostEnd) between(next mcpserver.RequestHandler) mcpserver.RequestHandler {
	return func(ctx context.Context, r *mcpserver.Request) (any, error) {
		ask := passedOn[r.Method]
		if ask == nil && r.Method != mcp.MethodSetLevel && r.Method != mcp.MethodDiscover {
			result, err := next(ctx, r)
			return result, e.g.guard.failure(ctx, r.Method, err)
		}
		if ask != nil {
			h, err := e.group(r)
			if err != nil {
				return nil, err
			}
			return (&request{h: h, info: r.RequestInfo, ask: ask}).answer(ctx, r.Params)
		}
		result, err := next(ctx, r)
		if err == nil {
			_, err = e.group(r) // the host opens a session, or has set its log level
		}
		return result, e.g.guard.failure(ctx, r.Method, err)
	}
}

// SubscribeResource watches a resource for a host.
func (e *hostEnd) SubscribeResource(ctx context.Context, uri string) error {
	s := mcpserver.SessionFrom(ctx)
	h := e.groupOf(s)
	if h == nil {
		return errGatewayStopped
	}
	able := s.ClientCapabilities()
	if r := mcpserver.RequestFrom(ctx); r != nil {
		able = r.ClientCapabilities()
	}
	if err := h.connect(able, s, e.server); err != nil { // this process may not have seen the session before
		return err
	}
	return h.watch(ctx, uri, s == nil)
}

// UnsubscribeResource ends the subscription.
func (e *hostEnd) UnsubscribeResource(ctx context.Context, uri string) error {
	if h := e.groupOf(mcpserver.SessionFrom(ctx)); h != nil {
		return h.unwatch(ctx, uri)
	}
	return nil
}

// rootsChanged notifies the members that the roots of a host have changed.
func (e *hostEnd) rootsChanged(ctx context.Context, s *mcpserver.Session) {
	if h := e.groupOf(s); h != nil {
		for _, m := range h.present() {
			if c := m.running(); c != nil && c.ProtocolVersion().Era() == mcp.Legacy {
				_ = c.Notify(ctx, mcp.NotificationRootsListChanged, nil) // a disconnected member asks for the roots again
			}
		}
	}
}
