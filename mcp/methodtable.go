package mcp

import (
	"encoding/json"
	"reflect"
)

// Methods that are requests.
const (
	MethodInitialize            = "initialize"
	MethodPing                  = "ping"
	MethodDiscover              = "server/discover"
	MethodListTools             = "tools/list"
	MethodCallTool              = "tools/call"
	MethodListResources         = "resources/list"
	MethodListResourceTemplates = "resources/templates/list"
	MethodReadResource          = "resources/read"
	MethodSubscribe             = "resources/subscribe"
	MethodUnsubscribe           = "resources/unsubscribe"
	MethodListPrompts           = "prompts/list"
	MethodGetPrompt             = "prompts/get"
	MethodComplete              = "completion/complete"
	MethodSetLevel              = "logging/setLevel"
	MethodSubscriptionsListen   = "subscriptions/listen"
	MethodCreateMessage         = "sampling/createMessage"
	MethodListRoots             = "roots/list"
	MethodElicit                = "elicitation/create"
	MethodGetTask               = "tasks/get"
	MethodTaskResult            = "tasks/result"
	MethodUpdateTask            = "tasks/update"
	MethodCancelTask            = "tasks/cancel"
	MethodListTasks             = "tasks/list"
)

// Methods that are notifications.
const (
	NotificationInitialized               = "notifications/initialized"
	NotificationCancelled                 = "notifications/cancelled"
	NotificationProgress                  = "notifications/progress"
	NotificationMessage                   = "notifications/message"
	NotificationToolListChanged           = "notifications/tools/list_changed"
	NotificationResourceListChanged       = "notifications/resources/list_changed"
	NotificationResourceUpdated           = "notifications/resources/updated"
	NotificationPromptListChanged         = "notifications/prompts/list_changed"
	NotificationRootsListChanged          = "notifications/roots/list_changed"
	NotificationElicitationComplete       = "notifications/elicitation/complete"
	NotificationSubscriptionsAcknowledged = "notifications/subscriptions/acknowledged"
	NotificationTaskStatus                = "notifications/tasks"
	NotificationLegacyTaskStatus          = "notifications/tasks/status"
)

// methods lists every method. Tests compare the list with the schema of each revision.
var methods = func() []Method {
	const (
		req, note, input     = KindRequest, KindNotification, KindInput
		client, server, both = FromClient, FromServer, FromBoth

		v2024, v0618, v1125, v2026 = Version20241105, Version20250618, Version20251125, Version20260728

		open  = Version("") // no last revision
		core  = ""          // no extension
		tasks = ExtensionTasks

		none, tool, prompt, resource, task = TargetNone, TargetTool, TargetPrompt, TargetResource, TargetTask
	)
	return []Method{
		{MethodInitialize, req, client, v2024, v1125, core, of[InitializeParams](), of[InitializeResult](), none},
		{NotificationInitialized, note, client, v2024, v1125, core, of[Params](), nil, none},
		{MethodDiscover, req, client, v2026, open, core, of[Params](), of[DiscoverResult](), none},
		{MethodPing, req, both, v2024, v1125, core, of[Params](), of[Result](), none},
		{NotificationCancelled, note, both, v2024, open, core, of[CancelledParams](), nil, none},
		{NotificationProgress, note, both, v2024, v1125, core, of[ProgressParams](), nil, none},
		{NotificationProgress, note, server, v2026, open, core, of[ProgressParams](), nil, none},

		{MethodListTools, req, client, v2024, open, core, of[PageParams](), of[ListToolsResult](), none},
		{MethodCallTool, req, client, v2024, open, core, of[CallToolParams](), of[CallToolResult](), tool},
		{NotificationToolListChanged, note, server, v2024, open, core, of[Params](), nil, none},

		{MethodListResources, req, client, v2024, open, core, of[PageParams](), of[ListResourcesResult](), none},
		{MethodListResourceTemplates, req, client, v2024, open, core, of[PageParams](), of[ListResourceTemplatesResult](),
			none},
		{MethodReadResource, req, client, v2024, open, core, of[ReadResourceParams](), of[ReadResourceResult](), resource},
		{MethodSubscribe, req, client, v2024, v1125, core, of[SubscribeParams](), of[Result](), resource},
		{MethodUnsubscribe, req, client, v2024, v1125, core, of[UnsubscribeParams](), of[Result](), resource},
		{NotificationResourceListChanged, note, server, v2024, open, core, of[Params](), nil, none},
		{NotificationResourceUpdated, note, server, v2024, open, core, of[ResourceUpdatedParams](), nil, resource},

		{MethodListPrompts, req, client, v2024, open, core, of[PageParams](), of[ListPromptsResult](), none},
		{MethodGetPrompt, req, client, v2024, open, core, of[GetPromptParams](), of[GetPromptResult](), prompt},
		{NotificationPromptListChanged, note, server, v2024, open, core, of[Params](), nil, none},
		{MethodComplete, req, client, v2024, open, core, of[CompleteParams](), of[CompleteResult](), none},

		{MethodSubscriptionsListen, req, client, v2026, open, core, of[SubscriptionsListenParams](), of[Result](), none},
		{NotificationSubscriptionsAcknowledged, note, server, v2026, open, core, of[SubscriptionsAcknowledgedParams](), nil,
			none},

		{MethodSetLevel, req, client, v2024, v1125, core, of[SetLevelParams](), of[Result](), none},
		{NotificationMessage, note, server, v2024, open, core, of[LoggingMessageParams](), nil, none},

		{MethodCreateMessage, req, server, v2024, v1125, core, of[CreateMessageParams](), of[CreateMessageResult](), none},
		{MethodCreateMessage, input, server, v2026, open, core, of[CreateMessageParams](), of[CreateMessageResult](), none},
		{MethodListRoots, req, server, v2024, v1125, core, of[Params](), of[ListRootsResult](), none},
		{MethodListRoots, input, server, v2026, open, core, of[Params](), of[ListRootsResult](), none},
		{NotificationRootsListChanged, note, client, v2024, v1125, core, of[Params](), nil, none},
		{MethodElicit, req, server, v0618, v1125, core, of[ElicitParams](), of[ElicitResult](), none},
		{MethodElicit, input, server, v2026, open, core, of[ElicitParams](), of[ElicitResult](), none},
		{NotificationElicitationComplete, note, server, v1125, v1125, core, of[ElicitationCompleteParams](), nil, none},

		{MethodGetTask, req, both, v1125, v1125, core, of[TaskParams](), of[LegacyTaskResult](), task},
		{MethodTaskResult, req, both, v1125, v1125, core, of[TaskParams](), of[json.RawMessage](), task},
		{MethodCancelTask, req, both, v1125, v1125, core, of[TaskParams](), of[LegacyTaskResult](), task},
		{MethodListTasks, req, both, v1125, v1125, core, of[PageParams](), of[LegacyListTasksResult](), none},
		{NotificationLegacyTaskStatus, note, both, v1125, v1125, core, of[LegacyTaskStatusParams](), nil, task},

		{MethodGetTask, req, client, v2026, open, tasks, of[TaskParams](), of[GetTaskResult](), task},
		{MethodUpdateTask, req, client, v2026, open, tasks, of[UpdateTaskParams](), of[Result](), task},
		{MethodCancelTask, req, client, v2026, open, tasks, of[TaskParams](), of[Result](), task},
		{NotificationTaskStatus, note, server, v2026, open, tasks, of[TaskStatusParams](), nil, task},
	}
}()

func of[T any]() reflect.Type { return reflect.TypeFor[T]() }
