// Package wire holds what passes between clients and servers against the specification's own JSON schemas, one for each
// revision. Begin with [Load]; a [Watch] follows one conversation, [Tap] makes a client's transport feed one, and
// [Handler] a server's HTTP handler.
//
// The schemas are not part of this repository. [Environment] names the variable that says where a checkout of
// github.com/modelcontextprotocol/modelcontextprotocol has them; tests that need them are skipped, and say so, where it
// is not set, and fail where it is wrong.
//
// What may surprise: the check is stricter than the schemas. They allow members that they do not know nearly
// everywhere; here a member that the revision does not define is a fault, so that what belongs to a later revision is
// noticed.
package wire
