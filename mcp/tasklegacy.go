package mcp

// TaskMetadata in the params of a request asks, in 2025-11-25 only, for the request to become a task.
// See https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/tasks.
type TaskMetadata struct {
	TTL *int64 `json:"ttl,omitzero"` // milliseconds to keep the task after its creation
}

// RelatedTask is the value of [MetaRelatedTask].
type RelatedTask struct {
	TaskID string `json:"taskId" mcp:"required"`
}

// LegacyTask is a task of 2025-11-25, the client's or the server's. When it is completed, tasks/result answers with the
// result of the request that became the task.
type LegacyTask struct {
	TaskID        string     `json:"taskId" mcp:"required"`
	Status        TaskStatus `json:"status" mcp:"required"`
	StatusMessage string     `json:"statusMessage,omitzero"` // for people
	CreatedAt     string     `json:"createdAt"`              // ISO 8601
	LastUpdatedAt string     `json:"lastUpdatedAt"`          // ISO 8601
	TTL           *int64     `json:"ttl"`                    // milliseconds from creation to keep it; nil for ever
	PollInterval  *int64     `json:"pollInterval,omitzero"`  // milliseconds
}

// LegacyCreateTaskResult answers a request that had a [TaskMetadata].
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
	NextCursor *string       `json:"nextCursor,omitzero"` // nil on the last page; an empty one is a cursor too
	Tasks      []*LegacyTask `json:"tasks" mcp:"required"`
}

// LegacyTaskStatusParams are the params of notifications/tasks/status.
type LegacyTaskStatusParams struct {
	Meta Meta `json:"_meta,omitzero"`
	LegacyTask
}
