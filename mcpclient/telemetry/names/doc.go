// Package names has a constant for every name in the schema of the telemetry: metrics, attributes and events, and the
// words that are values of attributes. The identifier of a constant is the name in one word: KeyMCPClientName is
// mcp_client.name. The package is for programs that query, filter or test telemetry. A name that leaves the schema
// leaves this package too, so the compiler finds its uses.
//
// Each name is written only here: the rows of package schema and the instruments refer to these constants. A new name
// is added here first and then to its row; "go generate ./..." copies the row's description above the constant.
package names

//go:generate go test . -run TestConstantsMatchSchema$ -update

// SchemaVersion is the version of the schema with these names.
const SchemaVersion = "2.0"

// SchemaURL is the schema URL of spans, metrics and log records: a file in OpenTelemetry's format for the version.
const SchemaURL = "https://raw.githubusercontent.com/mcpotel/mcpotel/main/docs/telemetry/schemas/" + SchemaVersion +
	".0"
