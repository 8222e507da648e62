package engine

import (
	"bytes"
	"slices"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/internal/jsonscan"
	"github.com/mcpotel/mcpotel/mcp"
)

// Method describes the requests of a method.
type Method struct {
	Name string

	// Kind is the kind of the method's target. Find returns the target's name if the target is registered. Kind and
	// Find are zero for a method that names neither a tool nor a prompt.
	Kind instrument.TargetKind
	Find func(name []byte) (string, bool)

	ByURI bool         // the target is a resource
	Rows  []mcp.Method // the method's rows in the table of the protocol; nil for a custom method
}

// In reports whether clients may send requests of the method in the revision v.
func (m *Method) In(v mcp.Version) bool {
	return m.Rows == nil || slices.ContainsFunc(m.Rows, func(r mcp.Method) bool { return r.In(v) })
}

// Target returns the kind of target that requests of the method have in the revision v.
func (m *Method) Target(v mcp.Version) mcp.Target {
	for i := range m.Rows {
		if m.Rows[i].In(v) {
			return m.Rows[i].Target
		}
	}
	return mcp.TargetNone
}

// TargetOf returns the name of the tool or prompt in a request, and reports whether the name is registered.
func (m *Method) TargetOf(p *jsonrpc.Params, params []byte) (name string, known bool) {
	if m.Find == nil {
		return "", false
	}
	raw := p.Name
	if m.Name == mcp.MethodComplete {
		raw = jsonrpc.CompletedPrompt(params)
	}
	return m.Named(raw)
}

// Named returns the name in raw, a JSON value, and reports whether the name is registered. The name is empty if raw is
// not a string.
func (m *Method) Named(raw []byte) (string, bool) {
	if len(raw) == 0 {
		return "", false
	}
	if end, escaped, err := jsonscan.String(raw, 0); err == nil && !escaped && end == len(raw) {
		if name, ok := m.Find(raw[1 : end-1]); ok {
			return name, true
		}
	}
	name, _ := jsonrpc.Text(raw)
	if registered, ok := m.Find([]byte(name)); ok {
		return registered, true
	}
	return name, false
}

// AnyName is a [Method.Find] that accepts every name, for a server that does not know the names of its targets. Metrics
// limit the number of names.
func AnyName(name []byte) (string, bool) { return string(name), true }

// RowsOf returns the rows in the table of the protocol for the requests with this method that clients may send.
func RowsOf(name string) []mcp.Method {
	var rows []mcp.Method
	for m := range mcp.Methods() {
		if m.Name == name && m.Kind == mcp.KindRequest && m.Sender&mcp.FromClient != 0 {
			rows = append(rows, m)
		}
	}
	return rows
}

// maxSkimmed is the number of bytes at the beginning of a result that telemetry reads. Telemetry also reads the last
// member of the result.
const maxSkimmed = 64 << 10

// Outcome returns the outcome that telemetry records for raw, a result of the method.
func (m *Method) Outcome(raw []byte) (r instrument.Result) {
	tool := m.Kind == instrument.Tool
	o := jsonscan.ObjectAt(raw[:min(len(raw), maxSkimmed)], 0)
	for o.Next() {
		switch string(o.Key()) {
		case "isError":
			r.ToolError = tool && string(o.Raw()) == "true"
		case "resultType":
			r.ResultType, _ = jsonrpc.Text(o.Raw())
		}
	}
	if tool && bytes.HasSuffix(raw, []byte(`,"isError":true}`)) {
		r.ToolError = true
	}
	return r
}
