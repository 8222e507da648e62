package mcpserver

import (
	"encoding/json"
	"fmt"

	"github.com/mcpotel/mcpotel/internal/given"
	"github.com/mcpotel/mcpotel/mcp"
)

// What a client may say about itself in initialize: clientInfo and capabilities together. It is kept for as long as the
// session lasts, in memory of its own.
const (
	maxIntroduction       = 64 << 10 // bytes of JSON
	maxIntroductionValues = 1024     // in it; some take much more memory than text
	introductionCost      = 128      // bytes of memory, about, of a value besides its text
)

// weightOf is about how many bytes of memory an introduction takes that is this JSON and has so many values.
func weightOf(text []byte, values int) int { return len(text) + introductionCost*values }

// introduction decodes the params of initialize. Of the frame, nothing is kept but what the session needs, and that is
// bounded; weight is about how many bytes of memory it takes. Other members, _meta among them, say nothing that lasts.
func introduction(params json.RawMessage) (p mcp.InitializeParams, weight int, err error) {
	if params == nil {
		return p, 0, nil
	}
	kept, n := []byte{'{'}, 0
	for _, name := range []string{"protocolVersion", "clientInfo", "capabilities"} {
		raw, ok := mcp.Object(params).Lookup(name)
		if !ok {
			continue
		}
		if n += values(raw); len(kept)+len(raw) > maxIntroduction || n > maxIntroductionValues {
			return p, 0, fmt.Errorf("the client says too much about itself: "+
				"%s and what is before it exceed %d bytes or %d values",
				name, maxIntroduction, maxIntroductionValues)
		}
		if len(kept) > 1 {
			kept = append(kept, ',')
		}
		kept = append(append(append(append(kept, '"'), name...), '"', ':'), raw...)
	}
	_, err = mcp.Decode(append(kept, '}'), &p)
	given.DropIcons(&p)
	return p, weightOf(kept, n), err
}

// values returns how many values there are in raw, valid JSON, at most: those in objects and arrays.
func values(raw []byte) (n int) {
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
