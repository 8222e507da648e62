package schemacheck

// Strict makes recorders of package telemetrytest reject everything outside the schema. It applies to recorders created
// after it is set. Packages of this module with tests of the library's telemetry set it when their tests are
// initialized. The recorders of a user's tests accept additions by the user's code.
var Strict bool
