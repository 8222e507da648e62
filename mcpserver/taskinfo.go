package mcpserver

import "context"

// BeginTask makes the call that a handler of [AddTaskTool] is answering a task, if it is none yet: the client is
// answered that there is one, and the handler goes on without it. When BeginTask returns nil, the client may be told of
// the task elsewhere too. It does nothing if the client does not know tasks, and for any other handler.
//
// The error is the cause of ctx or of the request's end, or says that there can be no task now, in words that are not
// for the client. Then the handler still answers the request.
// (tasks extension, "Task Creation")
func (r *RequestInfo) BeginTask(ctx context.Context) error {
	if r == nil || r.task == nil {
		return nil
	}
	return r.task.Begin(ctx)
}

// TaskID returns the id of the task that the request has become, empty if it is none, or none yet.
func (r *RequestInfo) TaskID() string {
	if r == nil || r.task == nil {
		return ""
	}
	return r.task.ID()
}

// TaskStatus sets what clients that ask for the task are told about its status, for people to read. It does not wait:
// of messages that follow each other within 250 ms, those between may go unread. It does nothing if there is no task.
//
// The error is the cause of the end of the handler's context. A handler may stop at it.
func (r *RequestInfo) TaskStatus(message string) error {
	if r.TaskID() == "" {
		return nil
	}
	return r.task.SetMessage(message)
}
