package mcp

import "encoding/json"

// ExtensionTasks is the name of the tasks extension, in Extensions of [ClientCapabilities] and [ServerCapabilities].
// With the extension, from 2026-07-28, a server may answer tools/call with a [CreateTaskResult], and the client gets
// the outcome with tasks/get. See https://modelcontextprotocol.io/extensions/tasks/overview. The tasks of 2025-11-25
// are a different protocol; the names of their types begin with Legacy.
const ExtensionTasks = "io.modelcontextprotocol/tasks"

// Task is the state of a request that the server continues to handle after its first answer.
type Task struct {
	TaskID        string     `json:"taskId" mcp:"required"`
	Status        TaskStatus `json:"status" mcp:"required"`
	StatusMessage string     `json:"statusMessage,omitzero"` // for display
	CreatedAt     string     `json:"createdAt"`              // ISO 8601
	LastUpdatedAt string     `json:"lastUpdatedAt"`          // ISO 8601
	// lifetime after creation; then the server may delete the task; nil means unlimited
	TTLMs          *int64 `json:"ttlMs"`
	PollIntervalMs *int64 `json:"pollIntervalMs,omitzero"`
}

// TaskStatus is the progress of a task.
type TaskStatus string

const (
	TaskWorking       TaskStatus = "working"
	TaskInputRequired TaskStatus = "input_required"
	TaskCompleted     TaskStatus = "completed"
	TaskFailed        TaskStatus = "failed"
	TaskCancelled     TaskStatus = "cancelled"
)

// Terminal reports whether the status is final.
func (s TaskStatus) Terminal() bool {
	return s == TaskCompleted || s == TaskFailed || s == TaskCancelled
}

// DetailedTask is a task with the data that its status requires.
type DetailedTask struct {
	Task
	InputRequests InputRequests   `json:"inputRequests,omitzero"`       // all open requests, when input is required
	Payload       json.RawMessage `json:"result,omitzero" mcp:"object"` // result of the request, when completed
	Error         *Error          `json:"error,omitzero"`               // error of the request, when failed
}

// CreateTaskResult answers tools/call in place of a [CallToolResult]; its ResultType is [ResultTask].
type CreateTaskResult struct {
	Result
	Task
}

// TaskParams are the params of tasks/get and tasks/cancel, and of the tasks/result of 2025-11-25.
type TaskParams struct {
	Meta   Meta   `json:"_meta,omitzero"`
	TaskID string `json:"taskId" mcp:"required"`
}

// GetTaskResult answers tasks/get.
type GetTaskResult struct {
	Result
	DetailedTask
}

// UpdateTaskParams are the params of tasks/update, which sends responses to some or all of the InputRequests. The
// answer is an empty [Result].
type UpdateTaskParams struct {
	Meta           Meta           `json:"_meta,omitzero"`
	TaskID         string         `json:"taskId" mcp:"required"`
	InputResponses InputResponses `json:"inputResponses" mcp:"required"`
}

// TaskStatusParams are the params of notifications/tasks: the same data as in the answer to tasks/get.
type TaskStatusParams struct {
	Meta Meta `json:"_meta,omitzero"`
	DetailedTask
}
