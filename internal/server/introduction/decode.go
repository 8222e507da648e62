// Package introduction decodes the clientInfo and capabilities of clients, within limits.
package introduction

import (
	"encoding/json"
	"fmt"

	"github.com/mcpotel/mcpotel/internal/given"
	"github.com/mcpotel/mcpotel/mcp"
)

// Limits of clientInfo and capabilities together in initialize. A session keeps a copy of both.
const (
	MaxBytes  = 64 << 10 // bytes of JSON
	maxValues = 1024     // number of JSON values; some values need much more memory than their text
	valueCost = 128      // approximate bytes of memory for a value, in addition to its text
)

// Weight estimates the memory in bytes for an introduction with this JSON text and this number of values.
func Weight(text []byte, values int) int { return len(text) + valueCost*values }

// Decode decodes the params of initialize, and estimates the memory for the result in bytes. The result has only the
// members that a session needs, and shares no memory with params.
func Decode(params json.RawMessage) (p mcp.InitializeParams, weight int, err error) {
	if params == nil {
		return p, 0, nil
	}
	kept, n := []byte{'{'}, 0
	for _, name := range []string{"protocolVersion", "clientInfo", "capabilities"} {
		raw, ok := mcp.Object(params).Lookup(name)
		if !ok {
			continue
		}
		if n += Values(raw); len(kept)+len(raw) > MaxBytes || n > maxValues {
			return p, 0, fmt.Errorf("the client's name, version and capabilities are too large: "+
				"with the member %s, they exceed %d bytes or %d values",
				name, MaxBytes, maxValues)
		}
		if len(kept) > 1 {
			kept = append(kept, ',')
		}
		kept = append(append(append(append(kept, '"'), name...), '"', ':'), raw...)
	}
	_, err = mcp.Decode(append(kept, '}'), &p)
	given.DropIcons(&p)
	return p, Weight(kept, n), err
}

// Values returns an upper bound for the number of values in the objects and arrays of raw, which is valid JSON.
func Values(raw []byte) (n int) {
	quoted := false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case !quoted && (c == ',' || c == '{' || c == '['):
			n++
		}
	}
	return n
}
