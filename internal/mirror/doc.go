// Package mirror is what Streamable HTTP repeats of a tool call in its headers: the arguments that a tool's input
// schema marks with x-mcp-header, as Mcp-Param-…, and the encoding of values that a header cannot carry as they are,
// which Mcp-Name uses too. (specification 2026-07-28, basic/transports/streamable-http, "Custom Headers from Tool
// Parameters")
//
// [Params] reads the marks of an input schema, [Values] what one call has to send for them; both sides use the two. A
// client sends [Encode] of each value, a server compares with [Equal] what [Decode] makes of each header. Nothing here
// does I/O or keeps anything, and every function may be called from any goroutine.
//
// What may surprise:
//   - A mark in a place where it must not be makes the whole tool invalid, not the mark alone. Places are those where a
//     schema can be: a property that happens to be called x-mcp-header is no mark, and neither is what stands in the
//     value of enum, const, default, examples or a keyword that JSON Schema does not know.
//   - The type must be one of "string", "integer", "boolean", by itself. ["string", "null"] is refused: the
//     specification lists the types a parameter may have and null is not among them. That the header of a null argument
//     is left out is a rule about calls, not a licence for schemas.
//   - A name that stands twice in one object, in a schema on the way to a mark or in the arguments on the way to a
//     value, is an error. The reader of the header and the tool could otherwise see different values.
//   - Values compares nothing with the schema but the types it has to convert.
package mirror

// HeaderPrefix is what the header of every mirrored argument begins with.
const HeaderPrefix = "Mcp-Param-"

// The bounds. A schema that exceeds one is refused by [Params], a call by [Values]; the specification sets none and
// lets everyone choose.
const (
	MaxParams = 64      // marks in one schema
	MaxName   = 256     // bytes of one x-mcp-header
	MaxValues = 1 << 20 // bytes of all values of one call: what a Go server takes in headers by default
)
