// Package schemacheck holds telemetry against the schema, whatever it came as: what a test recorded through the SDK, or
// what a process exported over OTLP. Its caller brings it into a neutral form, [Signals]; [Problems] says in what
// respects it departs from the schema, and [Rows] which rows of the schema it has shown.
//
// With [Declared], the rows of a whole run of the tests show what is declared and never emitted; [AppendSeen] and
// [ReadSeen] keep them in files meanwhile.
package schemacheck
