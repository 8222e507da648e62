package mcpgo

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/mcpotel/mcpotel/internal/instrument"
)

const (
	methodInitialize   = string(mcp.MethodInitialize)
	methodDiscover     = string(mcp.MethodServerDiscover)
	methodListen       = string(mcp.MethodSubscriptionsListen)
	methodCancelled    = string(mcp.MethodNotificationCancelled)
	methodAcknowledged = string(mcp.MethodNotificationSubscriptionsAcknowledged)

	resultInputRequired = string(mcp.ResultTypeInputRequired)
)

// served are the requests that an mcp-go client answers.
var served = map[string]bool{
	string(mcp.MethodSamplingCreateMessage): true, string(mcp.MethodElicitationCreate): true, string(mcp.MethodPing): true,
	string(mcp.MethodListRoots): true,
}

// target has the parts of a request's params that telemetry uses.
type target struct {
	Name, URI, RequestState string
	InputResponses          json.RawMessage
	meta                    json.RawMessage // set if params are JSON
}

// aim reads params. In a modern mcp-go client they are JSON already; in a legacy client they are a struct.
func aim(params any) (t target) {
	switch p := params.(type) {
	case map[string]json.RawMessage:
		text(p["name"], &t.Name)
		if ref := p["ref"]; ref != nil {
			var prompt mcp.PromptReference
			_ = json.Unmarshal(ref, &prompt)
			t.Name = promptOf(prompt)
		}
		text(p["uri"], &t.URI)
		text(p["requestState"], &t.RequestState)
		t.InputResponses = p["inputResponses"]
		t.meta = p["_meta"]
	case mcp.CallToolParams:
		t.Name = p.Name
	case mcp.GetPromptParams:
		t.Name = p.Name
	case mcp.CompleteParams:
		t.Name = promptOf(p.Ref)
	case mcp.ReadResourceParams:
		t.URI = p.URI
	case mcp.SubscribeParams:
		t.URI = p.URI
	case mcp.UnsubscribeParams:
		t.URI = p.URI
	}
	return t
}

// argumentsOf returns the arguments in params, as JSON.
func argumentsOf(params any) json.RawMessage {
	var arguments any
	switch p := params.(type) {
	case map[string]json.RawMessage:
		return p["arguments"]
	case mcp.CallToolParams:
		arguments = p.Arguments
	case mcp.GetPromptParams:
		arguments = p.Arguments
	}
	raw, err := json.Marshal(arguments)
	if err != nil || arguments == nil {
		return nil
	}
	return raw
}

// text sets s to the string in raw, if raw is a JSON string.
func text(raw json.RawMessage, s *string) {
	switch {
	case len(raw) < 2 || raw[0] != '"':
	case bytes.IndexByte(raw, '\\') < 0:
		*s = string(raw[1 : len(raw)-1])
	default:
		_ = json.Unmarshal(raw, s)
	}
}

// promptOf returns the name of the prompt of a completion; empty for a resource.
func promptOf(ref any) string {
	if p, ok := ref.(mcp.PromptReference); ok && p.Type == "ref/prompt" {
		return p.Name
	}
	return ""
}

func (t *target) kind(method string) instrument.TargetKind {
	switch mcp.MCPMethod(method) {
	case mcp.MethodToolsCall:
		return instrument.Tool
	case mcp.MethodPromptsGet:
		return instrument.Prompt
	case mcp.MethodCompletionComplete:
		if t.Name != "" {
			return instrument.Prompt
		}
	}
	return instrument.NoTarget
}

// version returns the version in the _meta of a modern request.
func (t *target) version() (v string) {
	var meta map[string]json.RawMessage
	if json.Unmarshal(t.meta, &meta) == nil {
		text(meta[mcp.MetaKeyProtocolVersion], &v)
	}
	return v
}

// withTrace returns params with the trace context of op in their _meta. It modifies a copy, because the caller may use
// the params again, even concurrently.
func withTrace(op *instrument.Op, params any) any {
	trace := op.TraceContext()
	if trace.IsZero() {
		return params
	}
	if v := reflect.ValueOf(params); v.Kind() == reflect.Struct {
		if f := v.FieldByName("Meta"); f.IsValid() && f.Type() == reflect.TypeFor[*mcp.Meta]() {
			twin := reflect.New(v.Type()).Elem()
			twin.Set(v)
			twin.FieldByName("Meta").Set(reflect.ValueOf(withTraceMeta(&trace, f.Interface().(*mcp.Meta))))
			return twin.Interface()
		}
	}
	fields, ok := inJSON(params)
	if !ok {
		return params
	}
	meta, ok := withTraceJSON(&trace, fields["_meta"])
	if !ok {
		return params
	}
	fields["_meta"] = meta
	return fields
}

// withTraceJSON returns a copy of meta with a trace context. meta may be empty. Decoding it is necessary only if it may
// already contain a trace context.
func withTraceJSON(trace *instrument.TraceContext, meta json.RawMessage) (json.RawMessage, bool) {
	for key := range trace.Keys() {
		if bytes.Contains(meta, []byte(key)) {
			var ok bool
			if meta, ok = withoutTraceJSON(trace, meta); !ok {
				return nil, false
			}
			break
		}
	}
	out := append(make([]byte, 0, len(meta)+128), '{')
	for key, text := range trace.All() {
		value, err := json.Marshal(text)
		if err != nil {
			return nil, false
		}
		out = append(append(append(append(append(out, '"'), key...), `":`...), value...), ',')
	}
	rest, ok := bytes.CutPrefix(meta, []byte{'{'})
	if rest = bytes.TrimLeft(rest, " \t\r\n"); !ok || len(rest) == 0 || rest[0] == '}' { // meta has no members
		out[len(out)-1] = '}'
		return out, true
	}
	return append(out, rest...), true
}

// withoutTraceJSON removes the keys of the trace context.
func withoutTraceJSON(trace *instrument.TraceContext, meta json.RawMessage) (json.RawMessage, bool) {
	fields := map[string]json.RawMessage{}
	if json.Unmarshal(meta, &fields) != nil {
		return nil, false
	}
	for key := range trace.Keys() {
		delete(fields, key)
	}
	raw, err := json.Marshal(fields)
	return raw, err == nil
}

// inJSON returns a copy of params as a JSON object.
func inJSON(params any) (map[string]json.RawMessage, bool) {
	if fields, ok := params.(map[string]json.RawMessage); ok {
		return maps.Clone(fields), true
	}
	fields := map[string]json.RawMessage{}
	if params == nil {
		return fields, true
	}
	raw, err := json.Marshal(params)
	if err != nil || json.Unmarshal(raw, &fields) != nil || fields == nil {
		return nil, false
	}
	return fields, true
}

// withTraceMeta returns a copy of meta, which may be nil, with a trace context.
func withTraceMeta(trace *instrument.TraceContext, meta *mcp.Meta) *mcp.Meta {
	twin := &mcp.Meta{}
	if meta != nil {
		*twin = *meta
	}
	twin.AdditionalFields = trace.AddTo(twin.AdditionalFields)
	return twin
}

// metaOf returns the _meta of a server's request.
func metaOf(params any) map[string]any {
	switch p := params.(type) {
	case map[string]any:
		meta, _ := p["_meta"].(map[string]any)
		return meta
	case json.RawMessage:
		var fields struct {
			Meta map[string]any `json:"_meta"`
		}
		_ = json.Unmarshal(p, &fields)
		return fields.Meta
	}
	return nil
}

// idText returns a request's id as text.
func idText(id mcp.RequestId) string { return anyID(id.Value()) }

func anyID(id any) string {
	if id == nil {
		return ""
	}
	return fmt.Sprint(id)
}

// said has the parts of a result that telemetry uses.
type said struct {
	IsError         bool   `json:"isError"`
	ResultType      string `json:"resultType"`
	RequestState    string `json:"requestState"`
	ProtocolVersion string `json:"protocolVersion"`
}

// answering are the methods whose results have an outcome. Ordinary results are not decoded.
var answering = map[string]bool{
	string(mcp.MethodToolsCall): true, string(mcp.MethodPromptsGet): true, string(mcp.MethodResourcesRead): true,
}

var keyIsError, wordInput = []byte(`"isError"`), []byte(resultInputRequired)

// read decodes the parts of a result. It ignores errors, because mcp-go reports an invalid result.
func read(method string, result json.RawMessage) (s said) {
	if method == methodInitialize ||
		answering[method] && (bytes.Contains(result, keyIsError) || bytes.Contains(result, wordInput)) {
		_ = json.Unmarshal(result, &s)
	}
	return s
}
