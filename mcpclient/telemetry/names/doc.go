// Package names has a constant for every name in the schema of the telemetry: metrics, attributes and events, each
// called as its name in one word, and the words that attributes have as values. It is for those who query, filter or
// test what is emitted. A name that the schema gives up is gone here too, and the compiler says where it was used.
//
// Each name is written here and nowhere else: the rows of package schema and the instruments refer to these constants.
// A new name comes here first and then into its row; "go generate ./..." writes the row's description above
// the constant.
package names

//go:generate go test . -run TestConstantsAreThoseOfTheSchema$ -update

// SchemaVersion is the version of the schema that these names are from.
const SchemaVersion = "2.0"

// SchemaURL is the schema URL of spans, metrics and log records: a file of OpenTelemetry's format for the version.
const SchemaURL = "https://raw.githubusercontent.com/mcpotel/mcpotel/main/docs/telemetry/schemas/" + SchemaVersion +
	".0"
