package wire

import (
	"errors"
	"reflect"

	"github.com/mcpotel/mcpotel/mcp"
)

var errNoType = errors.New("package mcp has no type for it")

// form describes how package mcp represents a definition: a Go type, and the JSON that must surround an example to
// decode it.
type form struct {
	typ           reflect.Type
	before, after string
}

func whole[T any]() form { return form{typ: reflect.TypeFor[T]()} }
func content() form      { return form{reflect.TypeFor[mcp.CallToolResult](), `{"content":[`, `]}`} }
func message() form {
	return form{reflect.TypeFor[mcp.PromptMessage](), `{"role":"user","content":`, `}`}
}
func sampling() form {
	return form{reflect.TypeFor[mcp.SamplingMessage](), `{"role":"user","content":[`, `]}`}
}
func field() form {
	return form{reflect.TypeFor[mcp.FormSchema](), `{"type":"object","properties":{"x":`, `}}`}
}
func inputRequests() form {
	return form{reflect.TypeFor[mcp.InputRequiredResult](), `{"inputRequests":`, `}`}
}
func inputResponses() form { return form{reflect.TypeFor[mcp.InputRound](), `{"inputResponses":`, `}`} }

// forms are the forms of the definitions with examples in the specification, except whole messages.
var forms = map[string]form{
	"AudioContent":                      content(),
	"BlobResourceContents":              whole[mcp.ResourceContents](),
	"BooleanSchema":                     field(),
	"CallToolRequestParams":             whole[mcp.CallToolParams](),
	"CallToolResult":                    whole[mcp.CallToolResult](),
	"CancelledNotificationParams":       whole[mcp.CancelledParams](),
	"ClientCapabilities":                whole[mcp.ClientCapabilities](),
	"CompleteRequestParams":             whole[mcp.CompleteParams](),
	"CompleteResult":                    whole[mcp.CompleteResult](),
	"CreateMessageRequestParams":        whole[mcp.CreateMessageParams](),
	"CreateMessageResult":               whole[mcp.CreateMessageResult](),
	"DiscoverResult":                    whole[mcp.DiscoverResult](),
	"ElicitRequestFormParams":           whole[mcp.ElicitParams](),
	"ElicitRequestURLParams":            whole[mcp.ElicitParams](),
	"ElicitResult":                      whole[mcp.ElicitResult](),
	"EmbeddedResource":                  content(),
	"GetPromptRequestParams":            whole[mcp.GetPromptParams](),
	"GetPromptResult":                   whole[mcp.GetPromptResult](),
	"ImageContent":                      message(),
	"InputRequests":                     inputRequests(),
	"InputRequiredResult":               whole[mcp.InputRequiredResult](),
	"InputResponses":                    inputResponses(),
	"InternalError":                     whole[mcp.Error](),
	"InvalidParamsError":                whole[mcp.Error](),
	"ListPromptsResult":                 whole[mcp.ListPromptsResult](),
	"ListResourceTemplatesResult":       whole[mcp.ListResourceTemplatesResult](),
	"ListResourcesResult":               whole[mcp.ListResourcesResult](),
	"ListRootsResult":                   whole[mcp.ListRootsResult](),
	"ListToolsResult":                   whole[mcp.ListToolsResult](),
	"LoggingMessageNotificationParams":  whole[mcp.LoggingMessageParams](),
	"MethodNotFoundError":               whole[mcp.Error](),
	"ModelPreferences":                  whole[mcp.ModelPreferences](),
	"NumberSchema":                      field(),
	"PaginatedRequestParams":            whole[mcp.PageParams](),
	"ParseError":                        whole[mcp.Error](),
	"ProgressNotificationParams":        whole[mcp.ProgressParams](),
	"ReadResourceResult":                whole[mcp.ReadResourceResult](),
	"Resource":                          whole[mcp.Resource](),
	"ResourceLink":                      content(),
	"ResourceUpdatedNotificationParams": whole[mcp.ResourceUpdatedParams](),
	"Root":                              whole[mcp.Root](),
	"SamplingMessage":                   whole[mcp.SamplingMessage](),
	"ServerCapabilities":                whole[mcp.ServerCapabilities](),
	"StringSchema":                      field(),
	"SubscriptionsListenResult":         whole[mcp.Result](),
	"TextContent":                       content(),
	"TextResourceContents":              whole[mcp.ResourceContents](),
	"TitledMultiSelectEnumSchema":       field(),
	"TitledSingleSelectEnumSchema":      field(),
	"Tool":                              whole[mcp.Tool](),
	"ToolResultContent":                 sampling(),
	"ToolUseContent":                    sampling(),
	"UntitledMultiSelectEnumSchema":     field(),
	"UntitledSingleSelectEnumSchema":    field(),
}
