package mcp

import (
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/internal/jsonscan"
)

// Result holds the members that all results share. Result types embed it. By itself, it is the empty result.
type Result struct {
	Meta       Meta       `json:"_meta,omitzero"`
	ResultType ResultType `json:"resultType,omitzero"` // from 2026-07-28, and required there
}

// Base returns r. If a result is stored as any, an interface with this method gives access to the shared members.
func (r *Result) Base() *Result { return r }

// ResultType distinguishes results of different shape that may answer the same request, from 2026-07-28. Absent means
// [ResultComplete]. A type that was not negotiated is invalid.
//
// To decode a result, call [ResultTypeOf] first and decode the result once, into the matching type. Decoding succeeds
// even if the result has another type than the Go type: required members may then be missing, members of the other
// type are skipped, and ResultType is set.
type ResultType string

const (
	// ResultComplete is the final result of the method.
	ResultComplete ResultType = "complete"
	// ResultInputRequired is an [InputRequiredResult].
	ResultInputRequired ResultType = "input_required"
	// ResultTask is a [CreateTaskResult] of the tasks extension.
	ResultTask ResultType = "task"
)

// ResultTypeOf returns the type of the result at the start of data, without changing data: call it before
// [DecodeInPlace]. It reads only the result's own members and stops at resultType, so the rest of data may be invalid.
func ResultTypeOf(data []byte) (ResultType, error) {
	const usual = `{"resultType":"complete"` // needs no walk over the members
	if len(data) > len(usual) && string(data[:len(usual)]) == usual {
		return ResultComplete, nil
	}
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

// resultType decodes the value of a member resultType without overwriting it. It returns false if raw is not a string.
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
