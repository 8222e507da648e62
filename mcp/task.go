package mcp

import "encoding/json"

// ExtensionTasks is the name of the tasks extension, in both sides' Extensions. With it, from 2026-07-28, a server may
// answer tools/call with a [CreateTaskResult], and the client asks for the outcome with tasks/get.
// See https://modelcontextprotocol.io/extensions/tasks/overview. The tasks of 2025-11-25 are another protocol; their
// types are called Legacy.
const ExtensionTasks = "io.modelcontextprotocol/tasks"

// Task is a request that a server is still working on.
type Task struct {
	TaskID         string     `json:"taskId" mcp:"required"`
	Status         TaskStatus `json:"status" mcp:"required"`
	StatusMessage  string     `json:"statusMessage,omitzero"` // for people
	CreatedAt      string     `json:"createdAt"`              // ISO 8601
	LastUpdatedAt  string     `json:"lastUpdatedAt"`          // ISO 8601
	TTLMs          *int64     `json:"ttlMs"`                  // from creation until it may be forgotten; nil for never
	PollIntervalMs *int64     `json:"pollIntervalMs,omitzero"`
}

// TaskStatus is how far a task has got.
type TaskStatus string

const (
	TaskWorking       TaskStatus = "working"
	TaskInputRequired TaskStatus = "input_required"
	TaskCompleted     TaskStatus = "completed"
	TaskFailed        TaskStatus = "failed"
	TaskCancelled     TaskStatus = "cancelled"
)

// Terminal reports whether the task will change no more.
func (s TaskStatus) Terminal() bool {
	return s == TaskCompleted || s == TaskFailed || s == TaskCancelled
}

// DetailedTask is a task and what its status brings with it.
type DetailedTask struct {
	Task
	InputRequests InputRequests   `json:"inputRequests,omitzero"`       // all that are open, when input is required
	Payload       json.RawMessage `json:"result,omitzero" mcp:"object"` // the result of the request, when completed
	Error         *Error          `json:"error,omitzero"`               // the error of the request, when failed
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

// UpdateTaskParams are the params of tasks/update, which hands in responses to InputRequests, all or some.
// The answer is an empty [Result].
type UpdateTaskParams struct {
	Meta           Meta           `json:"_meta,omitzero"`
	TaskID         string         `json:"taskId" mcp:"required"`
	InputResponses InputResponses `json:"inputResponses" mcp:"required"`
}

// TaskStatusParams are the params of notifications/tasks: what tasks/get would have answered.
type TaskStatusParams struct {
	Meta Meta `json:"_meta,omitzero"`
	DetailedTask
}
