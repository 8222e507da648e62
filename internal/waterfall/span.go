package waterfall

import (
	"fmt"
	"time"
)

// A Span is one span of a trace.
type Span struct {
	TraceID, ID, ParentID string // hexadecimal; ParentID is empty for a root
	Service               string // service.name of the process that recorded the span
	Name                  string
	Kind                  string // as drawn: CLIENT, SERVER, INTERNAL, PRODUCER, CONSUMER
	Start, End            time.Time
	Error                 bool
	Attributes            map[string]any
	Links                 []Link
}

// A Link points from a span to a span of this or of another trace.
type Link struct{ TraceID, SpanID string }

// An Attribute is drawn as "key=value" on the line below a span.
type Attribute struct{ Key, Value string }

// Options configure the drawing.
type Options struct {
	Width int  // columns; zero means 80, less than 60 means 60
	Color bool // use the terminal's colours; colours alone carry no information
	ASCII bool // use only ASCII characters, see UTF8

	// Attributes selects the attributes below a span; nil means [Selected]. Render cleans their text. It always draws
	// error.type if the span has an error.
	Attributes func(Span) []Attribute
}

// corrShown is the number of drawn characters of a correlation id: enough to compare spans.
const corrShown = 8

var selected = []struct{ key, label string }{
	{"mcp.method.name", "method"},
	{"gen_ai.tool.name", "tool"},
	{"gen_ai.prompt.name", "prompt"},
	{"mcp.resource.uri", "uri"},
	{"jsonrpc.request.id", "id"},
	{"mcp_client.corr_id", "corr"},
	{"rpc.response.status_code", "code"},
	{"network.transport", "transport"},
	{"mcp.protocol.version", "protocol"},
}

// Selected is the default for [Options.Attributes]. It returns these attributes under short keys: method, tool, prompt,
// resource, ids, status code, transport and protocol version.
func Selected(s Span) []Attribute {
	var chosen []Attribute
	for _, a := range selected {
		v, ok := s.Attributes[a.key]
		if !ok {
			continue
		}
		text := fmt.Sprint(v)
		if a.label == "corr" {
			text = text[:min(len(text), corrShown)]
		}
		chosen = append(chosen, Attribute{a.label, text})
	}
	return chosen
}

func (s Span) errorType() string {
	if v, ok := s.Attributes["error.type"]; ok {
		return fmt.Sprint(v)
	}
	return "unknown"
}
