// Package schemacheck checks telemetry against the schema, whatever its source: recorded in a test through the SDK, or
// exported by a process over OTLP. The caller converts it to a neutral form, [Signals]. [Problems] returns the
// deviations from the schema, and [Rows] returns the rows of the schema that occurred.
//
// Compared with [Declared], the rows of a whole test run show which declared telemetry is never emitted. [AppendSeen]
// and [ReadSeen] store the rows in files during the run.
package schemacheck
