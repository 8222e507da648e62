package inspector

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/mcpotel/mcpotel/internal/visible"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// URIs of the resources, which return the data of the tools as JSON.
const (
	clientsURI     = "mcpotel://clients"
	clientTemplate = "mcpotel://clients/{name}"
	traceTemplate  = "mcpotel://traces/{trace_id}"
)

func (in *inspector) addResources(s *mcpserver.Server) error {
	client, trace := mcp.CompleteRef{Type: mcp.RefResource, URI: clientTemplate},
		mcp.CompleteRef{Type: mcp.RefResource, URI: traceTemplate}
	return errors.Join(
		s.AddResource(&mcp.Resource{URI: clientsURI, Name: "clients", Title: "Clients and servers", MIMEType: asJSON,
			Description: "Answer of list_clients: the first 100 clients and servers."}, in.readClients),
		s.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: clientTemplate, Name: "client", Title: "One client",
			MIMEType: asJSON, Description: "Answer of get_client."}, in.readClient),
		s.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: traceTemplate, Name: "trace", Title: "Why a call failed",
			MIMEType: asJSON, Description: "Answer of explain for a trace."}, in.readTrace),
		s.AddCompletion(client, "name", in.completeName),
		s.AddCompletion(trace, "trace_id", in.completeTrace),
	)
}

const asJSON = "application/json"

// read encodes the contents of a resource. value is a pointer.
func read(value any, err error) (*mcp.ReadResourceResult, error) {
	if err != nil {
		return nil, err
	}
	visible.Clean(value, maxString)
	raw, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{MIMEType: asJSON, Text: string(raw)}}}, nil
}

func (in *inspector) readClients(ctx context.Context, _ *mcpserver.ReadResourceRequest) (*mcp.ReadResourceResult,
	error) {
	if err := in.turn.LockContext(ctx); err != nil {
		return nil, err
	}
	defer in.turn.Unlock()
	return read(in.list(ctx, listArguments{Limit: 100}))
}

func (in *inspector) readClient(ctx context.Context, r *mcpserver.ReadResourceRequest) (*mcp.ReadResourceResult,
	error) {
	if err := in.turn.LockContext(ctx); err != nil {
		return nil, err
	}
	defer in.turn.Unlock()
	client, err := in.get(ctx, getArguments{Name: r.Variables["name"]})
	if err != nil {
		return nil, mcpserver.ResourceNotFound(r.URI)
	}
	return read(client, nil)
}

func (in *inspector) readTrace(ctx context.Context, r *mcpserver.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	if err := in.turn.LockContext(ctx); err != nil {
		return nil, err
	}
	defer in.turn.Unlock()
	x, err := in.explain(ctx, explainArguments{TraceID: r.Variables["trace_id"]})
	if err != nil {
		return nil, mcpserver.ResourceNotFound(r.URI)
	}
	return read(x, nil)
}

func (in *inspector) completeName(ctx context.Context, r *mcpserver.CompleteRequest) (names []string, _ error) {
	if err := in.turn.LockContext(ctx); err != nil {
		return nil, err
	}
	defer in.turn.Unlock()
	peers, _ := in.peers(ctx)
	for i := range peers {
		if p := &peers[i]; p.Client != nil && strings.HasPrefix(line(p.Name), r.Value) {
			names = append(names, line(p.Name))
		}
	}
	return names, nil
}

func (in *inspector) completeTrace(ctx context.Context, r *mcpserver.CompleteRequest) (ids []string, _ error) {
	if err := in.turn.LockContext(ctx); err != nil {
		return nil, err
	}
	defer in.turn.Unlock()
	recent, err := in.traces(ctx, tracesArguments{All: true, Limit: 50})
	if err != nil {
		return nil, err
	}
	for _, t := range recent.Traces {
		if id := line(t.TraceID); strings.HasPrefix(id, r.Value) {
			ids = append(ids, id)
		}
	}
	return ids, nil
}
