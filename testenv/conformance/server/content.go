package main

import (
	"context"
	"errors"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpserver"
)

const (
	// 1×1, PNG
	redPixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
	silence  = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=" // WAV
)

// addContent adds tools that return each kind of content block.
func addContent(s *mcpserver.Server) error {
	fixed := func(name, description string, blocks ...mcp.Content) error {
		return add(s, name, description, func(context.Context, nothing) (*mcp.CallToolResult, error) {
			return answer(blocks...), nil
		})
	}
	embedded := func(uri, mimeType, text string) mcp.Content {
		return &mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: uri, MIMEType: mimeType, Text: text}}
	}
	image := &mcp.ImageContent{Data: redPixel, MIMEType: "image/png"}
	return errors.Join(
		fixed("test_simple_text", "Answers with text", mcp.Text("This is a simple text response for testing.")),
		fixed("test_image_content", "Answers with an image", image),
		fixed("test_audio_content", "Answers with sound", &mcp.AudioContent{Data: silence, MIMEType: "audio/wav"}),
		fixed("test_embedded_resource", "Answers with a resource",
			embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")),
		fixed("test_multiple_content_types", "Answers with text, an image and a resource",
			mcp.Text("Multiple content types test:"), image,
			embedded("test://mixed-content-resource", "application/json", `{"test":"data","value":123}`)),
		add(s, "test_error_handling", "Fails", func(context.Context, nothing) (*mcp.CallToolResult, error) {
			return nil, errors.New("this tool intentionally returns an error for testing")
		}),
	)
}
