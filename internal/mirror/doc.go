// Package mirror implements the headers that repeat parts of a tool call over Streamable HTTP. An argument that the
// tool's input schema marks with x-mcp-header is repeated as Mcp-Param-…. A value that a header cannot carry unchanged
// is encoded; Mcp-Name uses the same encoding. (specification 2026-07-28, basic/transports/streamable-http, "Custom
// Headers from Tool Parameters")
//
// [Params] reads the marks of an input schema and [Values] returns the values that one call must send for them; client
// and server both use these functions. A client sends [Encode] of each value. A server decodes each header with
// [Decode] and compares it with [Equal]. The package does no I/O and keeps no state; every function is safe for
// concurrent use.
//
// Possible surprises:
//
//   - A misplaced mark makes the whole tool invalid, not only the mark. A mark counts only in a place for a schema: a
//     property named x-mcp-header is not a mark, and neither is such a member inside the value of enum, const, default,
//     examples or a keyword that JSON Schema does not know.
//   - The type must be a single one of "string", "integer" and "boolean". ["string", "null"] is rejected: the
//     specification lists the types of a parameter, and null is not among them. A call omits the header of a null
//     argument, but this rule does not make such a schema valid.
//   - A duplicate name is an error in a schema object on the way to a mark, and in an arguments object on the way to a
//     value. Otherwise the reader of the header and the tool could see different values.
//   - Values does not validate the arguments against the schema. It checks only the types of the values that it
//     converts.
package mirror

// HeaderPrefix is the prefix of the header of every mirrored argument.
const HeaderPrefix = "Mcp-Param-"

// [Params] rejects a schema that exceeds a bound, and [Values] rejects a call that exceeds a bound. The specification
// sets no bounds and leaves the choice to implementations.
const (
	MaxParams = 64      // marks in one schema
	MaxName   = 256     // bytes of one x-mcp-header
	MaxValues = 1 << 20 // bytes of all values of one call; the default limit of a Go server for all headers
)
