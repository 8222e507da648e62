package schema_test

import (
	"fmt"

	"github.com/mcpotel/mcpotel/mcpclient/telemetry/schema"
)

// The schema is data, for users who build dashboards or check queries.
func ExampleDefinition() {
	for _, m := range schema.Current.Metrics {
		if m.Stability == schema.Convention {
			fmt.Println(m.Name, m.Unit)
		}
	}
	// Output:
	// mcp.client.operation.duration s
	// mcp.server.operation.duration s
	// gen_ai.execute_tool.duration s
	// mcp.client.session.duration s
	// mcp.server.session.duration s
}
