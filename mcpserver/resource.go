package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"sync/atomic"

	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/mcp"
)

// ReadResourceRequest asks for the contents of a resource.
type ReadResourceRequest struct {
	*RequestInfo
	URI string

	// Variables are what the URI has in the places of the template's variables, decoded, so that any of them may have
	// slashes, dots and control characters in it: [LocalPath] checks one that is to be the path of a file. Of a variable
	// that the URI leaves out there is none; a list is there with its separators. It is nil for a resource without a
	// template.
	Variables map[string]string
}

// ResourceHandler reads a resource, or any of those that a template stands for. Contents without a URI or a MIME type
// get those of the resource. A nil result, and [ResourceNotFound] as an error, say that there is no such resource. An
// error of type [*mcp.Error] goes to the client as it is, any other as -32603 with a neutral message.
//
// What the CacheHint of the result leaves open is that a modern client keeps nothing, and shares it with no other user;
// the CacheTTL of [Options] is not meant for contents.
//
// It runs in a goroutine of its own, and ctx ends as that of a [ToolHandler] does. The result is not changed, and may
// be returned again.
type ResourceHandler func(ctx context.Context, r *ReadResourceRequest) (*mcp.ReadResourceResult, error)

// AddResource adds a resource, of which a URI with a scheme and a name are required. It is found before any template
// that its URI matches.
//
// Clients that are connected are told that the list has changed. Those that watch the resource are told by
// [Server.ResourceUpdated] when to read it again. It is an error if the server has a resource of that URI.
// (specification 2026-07-28, server/resources)
func (s *Server) AddResource(r *mcp.Resource, h ResourceHandler) error {
	switch {
	case r == nil:
		return errors.New("add resource: no resource")
	case h == nil:
		return fmt.Errorf("add resource %s: no handler", r.URI)
	case r.Name == "":
		return fmt.Errorf("add resource %s: no name", r.URI)
	}
	if u, err := url.Parse(r.URI); err != nil || u.Scheme == "" {
		return fmt.Errorf("add resource: %q is no URI with a scheme", r.URI)
	}
	c := *r
	c.Meta, c.Icons, c.Annotations = bytes.Clone(r.Meta), slices.Clone(r.Icons), cloneAnnotations(r.Annotations)
	if r.Size != nil {
		c.Size = new(*r.Size)
	}
	added := &resource{Resource: &c, handle: h}
	if _, err := added.view(mcp.Version20260728); err != nil {
		return fmt.Errorf("add resource %s: %w", r.URI, err)
	}
	if err := s.resources.offer(); err != nil {
		return fmt.Errorf("add resource %s: %w", r.URI, err)
	}
	if !s.resources.add(added) {
		return fmt.Errorf("add resource %s: there is a resource of that URI", r.URI)
	}
	s.changed(notice{method: mcp.NotificationResourceListChanged})
	return nil
}

// RemoveResources removes resources by their URIs; reads that run go on. Clients that are connected are told that the
// list has changed, if it has.
func (s *Server) RemoveResources(uris ...string) {
	if s.resources.remove(uris...) {
		s.changed(notice{method: mcp.NotificationResourceListChanged})
	}
}

// resource is a resource as a server has it.
type resource struct {
	numbered
	*mcp.Resource
	handle ResourceHandler
	views  views
}

func (r *resource) key() string { return r.URI }

// view returns the resource as clients of a revision see it.
func (r *resource) view(v mcp.Version) (json.RawMessage, error) {
	return viewOf(&r.views, r.Resource, resourceMembers, v)
}

// resourceMembers are what not every revision knows of a resource. (schemas of the revisions, Resource)
var resourceMembers = []member[mcp.Resource]{
	{first: mcp.Version20250618, drop: func(r *mcp.Resource) {
		r.Title, r.Meta, r.Annotations = "", nil, undated(r.Annotations)
	}},
	{first: mcp.Version20251125, drop: func(r *mcp.Resource) { r.Icons = nil }},
}

// resources are those of a server, and the templates for them.
type resources struct {
	s *Server
	registry[*resource]
	templates  registry[*template]
	offered    offering
	subscriber atomic.Pointer[ResourceSubscriber] // that hears who watches them; nil for none
}

// offer makes the server answer the methods of resources, once there are some or a template for them.
func (r *resources) offer() error {
	return r.offered.offer(&r.s.methods, feature{declare: declareResources, methods: []*method{
		{name: mcp.MethodListResources, handle: r.list, pace: rpc.OnePace()},
		{name: mcp.MethodListResourceTemplates, handle: r.listTemplates, pace: rpc.OnePace()},
		{name: mcp.MethodReadResource, handle: r.read, byURI: true},
		{name: mcp.MethodSubscribe, handle: r.subscribe, byURI: true, inline: true}, // in the order in which they come
		{name: mcp.MethodUnsubscribe, handle: r.unsubscribe, byURI: true, inline: true},
	}})
}

// declareResources says that there are resources, which can be watched.
func declareResources(c *mcp.ServerCapabilities, _ mcp.Version) {
	if c.Resources == nil {
		c.Resources = new(mcp.ResourcesCapability)
	}
	c.Resources.ListChanged, c.Resources.Subscribe = true, true
}

// list answers resources/list. (specification 2026-07-28, server/resources, "Listing Resources")
func (r *resources) list(_ context.Context, c *call) (any, error) {
	return pageOf(c, &r.registry, "resources", (*resource).view)
}

// read answers resources/read. (specification 2026-07-28, server/resources, "Reading Resources")
func (r *resources) read(ctx context.Context, c *call) (any, error) {
	if c.uri == "" {
		return nil, errNoURI
	}
	at, ok := r.locate(c.uri)
	if !ok {
		return nil, ResourceNotFound(c.uri)
	}
	result, err := c.readResource(ctx, at.handle, at.variables)
	if err != nil {
		return nil, err
	}
	return at.complete(result, c.uri), nil
}

// readResource lets h read the resource that the request is about.
func (c *call) readResource(ctx context.Context, h ResourceHandler,
	variables map[string]string) (*mcp.ReadResourceResult, error) {
	r, err := h(ctx, &ReadResourceRequest{RequestInfo: &c.info, URI: c.uri, Variables: variables})
	switch {
	case err != nil:
		return nil, err
	case r == nil:
		return nil, ResourceNotFound(c.uri)
	case slices.Contains(r.Contents, nil):
		return nil, errors.New("one of the contents is nil")
	}
	return r, nil
}

var errNoURI = invalidParams("params.uri is missing, empty or no string")

// location is what a URI leads to.
type location struct {
	handle    ResourceHandler
	mimeType  string
	variables map[string]string // nil unless it is by a template
}

// locate returns what a URI leads to: the resource of that URI, or else the first template that it matches, in the
// order in which they were added.
func (r *resources) locate(uri string) (location, bool) {
	if known, ok := r.lookup(uri); ok {
		return location{handle: known.handle, mimeType: known.MIMEType}, true
	}
	for _, t := range r.templates.all() {
		if variables, ok := t.uris.Match(uri); ok {
			return location{t.handle, t.MIMEType, variables}, true
		}
	}
	return location{}, false
}

// complete returns r with what its contents leave to the resource: r itself if that is nothing.
func (at *location) complete(r *mcp.ReadResourceResult, uri string) *mcp.ReadResourceResult {
	lacking := func(c *mcp.ResourceContents) bool {
		return c.URI == "" || c.MIMEType == "" && at.mimeType != ""
	}
	if !slices.ContainsFunc(r.Contents, lacking) {
		return r
	}
	whole := *r
	whole.Contents = slices.Clone(r.Contents)
	for i, c := range whole.Contents {
		if !lacking(c) {
			continue
		}
		c = new(*c)
		if c.URI == "" {
			c.URI = uri
		}
		if c.MIMEType == "" {
			c.MIMEType = at.mimeType
		}
		whole.Contents[i] = c
	}
	return &whole
}

// ResourceNotFound returns the error of a request about a resource that does not exist. The client gets it in the way
// of its revision: with the code -32602 from 2026-07-28, with -32002 before that. As the error of a tool it is text for
// the client's model, like any other.
// (specification 2026-07-28, server/resources, "Error Handling")
func ResourceNotFound(uri string) error { return &notFoundError{uri} }

type notFoundError struct{ uri string }

func (e *notFoundError) Error() string { return "resource not found: " + e.uri }

// in returns the error as a revision has it.
func (e *notFoundError) in(v mcp.Version) error {
	data, err := json.Marshal(mcp.ResourceNotFoundData{URI: e.uri})
	if err != nil {
		return err
	}
	wire := &mcp.Error{Code: mcp.CodeResourceNotFound, Message: "resource not found", Data: data}
	if v.Era() == mcp.Modern {
		wire.Code = mcp.CodeInvalidParams
	}
	return rpc.Fail(wire, e)
}

func cloneAnnotations(a *mcp.Annotations) *mcp.Annotations {
	if a == nil {
		return nil
	}
	c := *a
	c.Audience = slices.Clone(a.Audience)
	if a.Priority != nil {
		c.Priority = new(*a.Priority)
	}
	return &c
}
