// Package tasks makes tasks of calls of tools: those of the tasks extension, and those of 2025-11-25.
//
// A [Run] is the handling of a call that is a task or may become one. Its [Handler] knows the tool; the [Keeper] has
// the store of the tasks, bounds what runs and what is kept, and answers the methods of tasks. Servers that share a
// store answer for each other's tasks: each change of a task is a new revision in the store, and the server that runs
// a task renews its lease. A [Watch] sends the states of tasks to a subscription.
//
// The package knows no tool, no session and no HTTP. Package mcpserver is its user: it declares tasks to clients,
// decodes the params of the methods, and sends what sessions are to hear.
package tasks
