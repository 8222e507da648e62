package schemacheck

// Strict makes the recorders of package telemetrytest that are created from then on accept nothing that the schema
// does not hold. Packages of this module whose tests show what the library emits set it when their tests are
// initialized. The recorders of a user's tests accept what the user's code adds.
var Strict bool
