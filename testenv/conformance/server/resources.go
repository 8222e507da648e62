package main

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// addResources adds the resources and the template.
func addResources(s *mcpserver.Server) error {
	text := func(text string) mcpserver.ResourceHandler {
		return func(_ context.Context, r *mcpserver.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			return contents(mcp.ResourceContents{URI: r.URI, MIMEType: "text/plain", Text: text}), nil
		}
	}
	return errors.Join(
		s.AddResource(&mcp.Resource{
			URI: "test://static-text", Name: "static-text", Title: "Static text", Description: "Text that stays",
			MIMEType: "text/plain",
		}, text("This is the content of the static text resource.")),
		s.AddResource(&mcp.Resource{
			URI: "test://static-binary", Name: "static-binary", Description: "A picture that stays", MIMEType: "image/png",
		}, func(_ context.Context, r *mcpserver.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			return contents(mcp.ResourceContents{URI: r.URI, MIMEType: "image/png", Blob: new(redPixel)}), nil
		}),
		s.AddResource(&mcp.Resource{
			URI: "test://watched-resource", Name: "watched-resource", Description: "A resource to subscribe to",
			MIMEType: "text/plain",
		}, text("Watched resource content")),
		s.AddResourceTemplate(&mcp.ResourceTemplate{
			URITemplate: "test://template/{id}/data", Name: "template", Description: "Data by id", MIMEType: "application/json",
		}, func(_ context.Context, r *mcpserver.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			id := r.Variables["id"]
			data, err := json.Marshal(map[string]any{"id": id, "templateTest": true, "data": "Data for ID: " + id})
			return contents(mcp.ResourceContents{URI: r.URI, MIMEType: "application/json", Text: string(data)}), err
		}),
	)
}

func contents(c mcp.ResourceContents) *mcp.ReadResourceResult {
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{&c}}
}
