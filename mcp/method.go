package mcp

import (
	"iter"
	"reflect"
	"slices"
)

// Method describes a method for a range of revisions.
type Method struct {
	Name      string
	Kind      MethodKind
	Sender    Sender
	First     Version      // first revision with the method
	Last      Version      // last revision with the method; empty if the newest revision has it
	Extension string       // extension that defines the method, such as [ExtensionTasks]; empty for the core
	Params    reflect.Type // a struct type
	// a struct type; nil for a notification; [encoding/json.RawMessage] if the type depends on the request
	Result reflect.Type
	Target Target
}

// MethodKind is the form in which a peer sends a method: a request, a notification or an input request.
type MethodKind uint8

const (
	// KindRequest is a JSON-RPC request.
	KindRequest MethodKind = iota + 1
	// KindNotification is a JSON-RPC notification.
	KindNotification
	// KindInput is an [InputRequest] inside a result or a task, from 2026-07-28.
	KindInput
)

// Sender is the side that sends a method.
type Sender uint8

const (
	FromClient Sender = 1 << iota
	FromServer
	FromBoth = FromClient | FromServer
)

// Target is the kind of object that the params of a method name. Streamable HTTP sends the object's name in the header
// Mcp-Name; telemetry uses the name in span names.
type Target uint8

const (
	TargetNone Target = iota
	TargetTool
	TargetPrompt
	TargetResource
	TargetTask
)

// Member returns the member of params that names the target: name, uri or taskId. It is empty for [TargetNone].
func (t Target) Member() string {
	return [...]string{TargetTool: "name", TargetPrompt: "name", TargetResource: "uri", TargetTask: "taskId"}[t]
}

// TargetOf returns the name, URI or id of the target in params, a pointer to the type in [Method.Params]. It returns
// the empty string if the method has no target, and for params of any other type.
func TargetOf(params any) string {
	switch p := params.(type) {
	case *CallToolParams:
		return p.Name
	case *GetPromptParams:
		return p.Name
	case *ReadResourceParams:
		return p.URI
	case *SubscribeParams:
		return p.URI
	case *UnsubscribeParams:
		return p.URI
	case *ResourceUpdatedParams:
		return p.URI
	case *TaskParams:
		return p.TaskID
	case *UpdateTaskParams:
		return p.TaskID
	case *TaskStatusParams:
		return p.TaskID
	case *LegacyTaskStatusParams:
		return p.TaskID
	}
	return ""
}

// In reports whether revision v has the method.
func (m *Method) In(v Version) bool {
	return v >= m.First && (m.Last == "" || v <= m.Last)
}

// Lookup returns the method with this name in revision v. It returns false if v does not have the method. For a
// revision newer than this package, it assumes the methods of the newest known revision.
func Lookup(name string, v Version) (Method, bool) {
	for i := range methods {
		if m := &methods[i]; m.Name == name && m.In(v) {
			return *m, true
		}
	}
	return Method{}, false
}

// Methods returns all methods of all revisions. A name occurs more than once if its description depends on the
// revision.
func Methods() iter.Seq[Method] { return slices.Values(methods) }
