package mcp

import (
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/internal/jsonscan"
)

// Result is what all results have; alone, it is the empty result. Types of results embed it.
type Result struct {
	Meta       Meta       `json:"_meta,omitzero"`
	ResultType ResultType `json:"resultType,omitzero"` // from 2026-07-28, and required there
}

// Base returns r. Through it, code that is given a result as any reaches what all results have.
func (r *Result) Base() *Result { return r }

// ResultType tells results of different shape apart that may answer the same request, from 2026-07-28. An absent one
// means [ResultComplete], one that nobody has negotiated is invalid.
//
// [Decode] decodes any of them into the type that the method has by itself, without insisting on that type's required
// members if the result is not complete, and leaves the members of the other types as they were. So it can be called
// again, with the same data and the type that ResultType asks for.
type ResultType string

const (
	// ResultComplete is the final result of the method.
	ResultComplete ResultType = "complete"
	// ResultInputRequired is an [InputRequiredResult].
	ResultInputRequired ResultType = "input_required"
	// ResultTask is a [CreateTaskResult] of the tasks extension.
	ResultTask ResultType = "task"
)

// ResultTypeOf returns the type of the result whose JSON is data, without changing data, for results that are not
// decoded. It stops at the member resultType and looks no further.
func ResultTypeOf(data []byte) (ResultType, error) {
	o := jsonscan.ObjectAt(data, 0)
	for o.Next() {
		if memberOf(o.Key()) != memberResultType {
			continue
		}
		if o.Null() {
			break
		}
		t, ok := resultType(o.Raw())
		if !ok && o.Err() == nil {
			return "", within("resultType", &jsonscan.TypeError{Offset: o.At(), Want: "string"})
		}
		return t, o.Err()
	}
	return ResultComplete, o.Err()
}

// resultType reads the value of a member resultType without overwriting it, false if it is no string.
func resultType(raw []byte) (ResultType, bool) {
	switch string(raw) {
	case `"complete"`:
		return ResultComplete, true
	case `"input_required"`:
		return ResultInputRequired, true
	case `"task"`:
		return ResultTask, true
	}
	s, ok := jsonrpc.Text(raw)
	return ResultType(s), ok
}
