// Package tasks runs tool calls as tasks, for the tasks extension and for revision 2025-11-25.
//
// A [Run] handles a call that is a task or may become one. Its [Handler] calls the tool. The [Keeper] has the store of
// the tasks, limits the running and the kept tasks, and answers the task methods. Servers that share a store answer
// requests about each other's tasks: each change of a task is a new revision in the store, and the server that runs a
// task renews its lease. A [Watch] sends the states of tasks to a subscription.
//
// The package knows no tool, no session and no HTTP. Package mcpserver uses it: it declares tasks to clients, decodes
// the params of the methods, and sends the notifications to sessions.
package tasks
