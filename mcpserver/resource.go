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

	// Variables are the decoded values of the template's variables in the URI. A value may contain slashes, dots and
	// control characters: use [LocalPath] for a value that is the path of a file. The map lacks variables that the URI
	// omits. The value of a list includes its separators. Variables is nil for a resource without a template.
	Variables map[string]string
}

// ResourceHandler reads a resource, or any of the resources that match a template. If the contents lack a URI or a MIME
// type, the server adds the URI or MIME type of the resource. If the resource does not exist, return a nil result, or
// [ResourceNotFound] as the error. The client gets an error of type [*mcp.Error] unchanged, and any other error as
// -32603 with a neutral message.
//
// If the CacheHint of the result has no TTL, a modern client does not cache the contents. If the CacheHint has no
// scope, the client does not share the contents with other users. [Options.Cache] does not apply to contents.
//
// Each call runs in its own goroutine, and ctx ends as the context of a [ToolHandler] does. The server does not change
// the result, so a handler may return the same result again.
type ResourceHandler func(ctx context.Context, r *ReadResourceRequest) (*mcp.ReadResourceResult, error)

// AddResource adds a resource, which needs a name and a URI with a scheme. A resource has precedence over templates
// that match its URI.
//
// Connected clients get a notification of the changed list. When the contents change, call [Server.ResourceUpdated] to
// notify the clients that watch the resource. AddResource returns an error if a resource of that URI exists.
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
		return fmt.Errorf("add resource: %q is not a URI with a scheme", r.URI)
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
		return fmt.Errorf("add resource %s: a resource with this URI already exists", r.URI)
	}
	s.changed(notice{method: mcp.NotificationResourceListChanged})
	return nil
}

// RemoveResources removes resources by their URIs. Reads in progress continue. Connected clients get a notification if
// the list has changed.
func (s *Server) RemoveResources(uris ...string) {
	if s.resources.remove(uris...) {
		s.changed(notice{method: mcp.NotificationResourceListChanged})
	}
}

// resource is an added resource, with its handler and its encodings.
type resource struct {
	numbered
	*mcp.Resource
	handle ResourceHandler
	views  views
}

func (r *resource) key() string { return r.URI }

// view returns the resource, encoded for clients of a revision.
func (r *resource) view(v mcp.Version) (json.RawMessage, error) {
	return viewOf(&r.views, r.Resource, resourceMembers, v)
}

// resourceMembers lists the members of a resource that some revisions lack. (schemas of the revisions, Resource)
var resourceMembers = []member[mcp.Resource]{
	{first: mcp.Version20250618, drop: func(r *mcp.Resource) {
		r.Title, r.Meta, r.Annotations = "", nil, undated(r.Annotations)
	}},
	{first: mcp.Version20251125, drop: func(r *mcp.Resource) { r.Icons = nil }},
}

// resources holds the resources of a server, and the templates for resources.
type resources struct {
	s *Server
	registry[*resource]
	templates  registry[*template]
	offered    offering
	subscriber atomic.Pointer[ResourceSubscriber] // called when clients watch resources; nil without a ResourceSubscriber
}

// offer registers the methods of resources, once.
func (r *resources) offer() error {
	return r.offered.offer(&r.s.methods, feature{declare: declareResources, methods: []*method{
		{Method: named(mcp.MethodListResources), handle: r.list, pace: rpc.OnePace()},
		{Method: named(mcp.MethodListResourceTemplates), handle: r.listTemplates, pace: rpc.OnePace()},
		{Method: ofResource(mcp.MethodReadResource), handle: r.read},
		{Method: ofResource(mcp.MethodSubscribe), handle: r.subscribe, inline: true}, // inline, in the order of arrival
		{Method: ofResource(mcp.MethodUnsubscribe), handle: r.unsubscribe, inline: true},
	}})
}

// declareResources declares resources that clients can watch.
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

// readResource calls h to read the resource that the request names.
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

var errNoURI = rpc.InvalidParams("params.uri is missing, empty or not a string")

// location is the handler for a URI, with the MIME type of the resource.
type location struct {
	handle    ResourceHandler
	mimeType  string
	variables map[string]string // nil for a resource without a template
}

// locate finds the resource with a URI. If there is none, locate finds the first template added that matches the URI.
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

// complete adds the URI and the MIME type to contents that lack them. It returns r itself if no contents lack them.
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

// ResourceNotFound returns the error for a resource that does not exist. The client gets the error with the code of
// its revision: -32602 from 2026-07-28 on, -32002 before. If a tool returns the error, it becomes text for the
// client's model, like any other error.
// (specification 2026-07-28, server/resources, "Error Handling")
func ResourceNotFound(uri string) error { return &notFoundError{uri} }

type notFoundError struct{ uri string }

func (e *notFoundError) Error() string { return "resource not found: " + e.uri }

// in returns the error with the error code of a revision.
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
