package contextcost_test

import (
	"encoding/json"
	"fmt"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcp/contextcost"
)

// A host gives the tools of a server to the model, as long as they fit into the model's context.
func ExampleOf() {
	tools := []*mcp.Tool{
		{Name: "forecast", Description: "The weather of the next days in a city.", InputSchema: json.RawMessage(
			`{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}`)},
		{Name: "alerts", Description: "Warnings of storms.", InputSchema: json.RawMessage(`{"type":"object"}`)},
	}
	const room = 100 // tokens
	var taken contextcost.Size
	for _, tool := range tools {
		d := contextcost.Of(tool)
		taken = taken.Plus(d.Total())
		fmt.Printf("%s: %d bytes, of which the schema %d\n", tool.Name, d.Total().Bytes, d.InputSchema.Bytes)
	}
	fmt.Println("room for all:", taken.EstimatedTokens <= room)
	// Output:
	// forecast: 167 bytes, of which the schema 77
	// alerts: 85 bytes, of which the schema 17
	// room for all: true
}
