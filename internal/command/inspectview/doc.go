// Package inspectview serves the pages of "mcpotel inspect": one connection to a server, on which a person calls tools,
// reads resources and gets prompts, and sees the trace, the log records and the frames of each operation.
//
// Start with New, connect with Session.Connect, and serve Session.Handler. A Session has four parts, each with a mutex
// of its own: the operations (operation.go), the questions of the server (question.go), the frames (frames.go), and the
// recording (recorded.go).
//
// The pages are HTML forms and links, and work without a script. The address of the pages contains a secret; see
// guard.go. All texts of the server are hostile: the pages bound and escape them.
package inspectview
