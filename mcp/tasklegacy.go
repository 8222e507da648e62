package mcp

// TaskMetadata, in the params of a request of 2025-11-25 only, requests that the receiver runs the request as a task.
// See
// https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks.
type TaskMetadata struct {
	TTL *int64 `json:"ttl,omitzero"` // time to keep the task after its creation, in milliseconds
}

// RelatedTask is the value of [MetaRelatedTask].
type RelatedTask struct {
	TaskID string `json:"taskId" mcp:"required"`
}

// LegacyTask is a task of 2025-11-25, of the client or the server. After completion, tasks/result returns the result
// of the original request.
type LegacyTask struct {
	TaskID        string     `json:"taskId" mcp:"required"`
	Status        TaskStatus `json:"status" mcp:"required"`
	StatusMessage string     `json:"statusMessage,omitzero"` // for display
	CreatedAt     string     `json:"createdAt"`              // ISO 8601
	LastUpdatedAt string     `json:"lastUpdatedAt"`          // ISO 8601
	// time to keep the task after its creation, in milliseconds; nil means unlimited
	TTL          *int64 `json:"ttl"`
	PollInterval *int64 `json:"pollInterval,omitzero"` // milliseconds
}

// LegacyCreateTaskResult answers a request with a [TaskMetadata].
type LegacyCreateTaskResult struct {
	Result
	Task LegacyTask `json:"task" mcp:"required"`
}

// LegacyTaskResult answers tasks/get and tasks/cancel of 2025-11-25.
type LegacyTaskResult struct {
	Result
	LegacyTask
}

// LegacyListTasksResult answers tasks/list, whose params are [PageParams].
type LegacyListTasksResult struct {
	Result
	NextCursor *string       `json:"nextCursor,omitzero"` // nil on the last page; an empty string is a valid cursor
	Tasks      []*LegacyTask `json:"tasks" mcp:"required"`
}

// LegacyTaskStatusParams are the params of notifications/tasks/status.
type LegacyTaskStatusParams struct {
	Meta Meta `json:"_meta,omitzero"`
	LegacyTask
}
