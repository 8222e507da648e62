// Package methods has facts about the methods of MCP that both [mcpclient.Client] and the relay need.
//
// [mcpclient.Client]: https://pkg.go.dev/github.com/mcpotel/mcpotel/mcpclient#Client
package methods

import (
	"iter"

	"github.com/mcpotel/mcpotel/mcp"
)

// harmless lists the idempotent methods. Such a method only reads, or sets a value to the same value again.
var harmless = map[string]bool{
	mcp.MethodInitialize: true, mcp.MethodDiscover: true, mcp.MethodPing: true,
	mcp.MethodListTools: true, mcp.MethodListPrompts: true, mcp.MethodGetPrompt: true, mcp.MethodComplete: true,
	mcp.MethodListResources: true, mcp.MethodListResourceTemplates: true, mcp.MethodReadResource: true,
	mcp.MethodSubscribe: true, mcp.MethodUnsubscribe: true, mcp.MethodSubscriptionsListen: true, mcp.MethodSetLevel: true,
	mcp.MethodGetTask: true, mcp.MethodTaskResult: true, mcp.MethodListTasks: true, mcp.MethodCancelTask: true,
}

// Harmless reports whether a request of this method is idempotent, so that the server may execute it twice.
func Harmless(method string) bool { return harmless[method] }

// ChangesOf yields the notifications that f selects: their methods, and the URIs of resources.
func ChangesOf(f *mcp.SubscriptionFilter) iter.Seq2[string, string] {
	return func(yield func(method, uri string) bool) {
		if f.ToolsListChanged && !yield(mcp.NotificationToolListChanged, "") ||
			f.PromptsListChanged && !yield(mcp.NotificationPromptListChanged, "") ||
			f.ResourcesListChanged && !yield(mcp.NotificationResourceListChanged, "") {
			return
		}
		for _, uri := range f.ResourceSubscriptions {
			if !yield(mcp.NotificationResourceUpdated, uri) {
				return
			}
		}
	}
}

// UpdateOf returns the params of a notification that the resource at uri has changed.
func UpdateOf(uri string) []byte {
	params, err := mcp.AppendParams(nil, &mcp.ResourceUpdatedParams{URI: uri})
	if err != nil {
		panic("cannot encode the params of notifications/resources/updated: " + err.Error())
	}
	return params
}
