package mcp

import (
	"iter"
	"reflect"
	"slices"
)

// Method is what the protocol says about a method in a range of revisions.
type Method struct {
	Name      string
	Kind      MethodKind
	Sender    Sender
	First     Version      // the revision it came with
	Last      Version      // the last revision that has it; empty if there is no end
	Extension string       // the extension that defines it, such as [ExtensionTasks]; empty for the core
	Params    reflect.Type // a struct
	Result    reflect.Type // likewise; nil for a notification; [encoding/json.RawMessage] where it depends on the request
	Target    Target
}

// MethodKind is in which form a method is sent.
type MethodKind uint8

const (
	// KindRequest is a JSON-RPC request.
	KindRequest MethodKind = iota + 1
	// KindNotification is a JSON-RPC notification.
	KindNotification
	// KindInput is an [InputRequest], a part of a result or of a task, from 2026-07-28.
	KindInput
)

// Sender is who sends a method.
type Sender uint8

const (
	FromClient Sender = 1 << iota
	FromServer
	FromBoth = FromClient | FromServer
)

// Target is what a method is about, as far as params name one thing. Streamable HTTP puts it into the header Mcp-Name,
// telemetry into span names.
type Target uint8

const (
	TargetNone Target = iota
	TargetTool
	TargetPrompt
	TargetResource
	TargetTask
)

// Member returns the member of params that names the target: name, uri or taskId, empty for [TargetNone].
func (t Target) Member() string {
	return [...]string{TargetTool: "name", TargetPrompt: "name", TargetResource: "uri", TargetTask: "taskId"}[t]
}

// TargetOf returns what names the target in params, a pointer to the type that [Method.Params] is; empty if there is no
// target, and for params of any other type.
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

// In reports whether the revision v has the method.
func (m *Method) In(v Version) bool {
	return v >= m.First && (m.Last == "" || v <= m.Last)
}

// Lookup returns what the revision v says about the method called name, false if v does not have it. A revision newer
// than this package is taken to have what the newest known one has.
func Lookup(name string, v Version) (Method, bool) {
	for i := range methods {
		if m := &methods[i]; m.Name == name && m.In(v) {
			return *m, true
		}
	}
	return Method{}, false
}

// Methods yields what each revision from the oldest to the newest says about each method. A name comes twice if
// revisions differ in what they say.
func Methods() iter.Seq[Method] { return slices.Values(methods) }
