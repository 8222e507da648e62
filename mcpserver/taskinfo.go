package mcpserver

import "context"

// BeginTask makes the call that a handler of [AddTaskTool] answers a task, unless it is one already: the client gets a
// task as the answer to its request, and the handler continues. When BeginTask has returned nil, the program may pass
// the task's id to the client in other ways too. BeginTask does nothing if the client does not know tasks, or in any
// other handler.
//
// The error is the cause of ctx or of the request's end, or reports that there can be no task now; its text is not for
// the client. After an error, the handler still answers the request.
// (tasks extension, "Task Creation")
func (r *RequestInfo) BeginTask(ctx context.Context) error {
	if r == nil || r.task == nil {
		return nil
	}
	return r.task.Begin(ctx)
}

// TaskID returns the id of the task that the request has become, empty if it is not a task, or not yet.
func (r *RequestInfo) TaskID() string {
	if r == nil || r.task == nil {
		return ""
	}
	return r.task.ID()
}

// TaskStatus sets the status message of the task, which clients show to people. It does not wait: if several messages
// follow within 250 ms, clients may see only the last. It does nothing if there is no task.
//
// The error is the cause of the end of the handler's context. A handler may return when it gets an error.
func (r *RequestInfo) TaskStatus(message string) error {
	if r.TaskID() == "" {
		return nil
	}
	return r.task.SetMessage(message)
}
