// Package wire validates the messages between clients and servers against the specification's own JSON schemas, one for
// each revision. Start at [Load]. A [Watch] follows one conversation; [Tap] connects a client's transport to a Watch,
// and [Handler] connects a server's HTTP handler to one.
//
// The schemas are not part of this repository. [Environment] is the variable with the directory of the schemas in a
// checkout of github.com/modelcontextprotocol/modelcontextprotocol. Tests that need the schemas skip with a message if
// it is not set, and fail if it is wrong.
//
// A possible surprise: the check is stricter than the schemas, which allow unknown members nearly everywhere. Here, a
// member that the revision does not define is an error, so that members of a later revision are detected.
package wire
