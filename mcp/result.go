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
// means [ResultComplete], one that has not been negotiated is invalid.
//
// To decode a result, ask [ResultTypeOf] first and decode it, once, into the type that it names. Decoded into the type
// that the method has by itself, a result of another type misses none of that type's required members, so that its
// ResultType can be seen; the members of the other types are passed over.
type ResultType string

const (
	// ResultComplete is the final result of the method.
	ResultComplete ResultType = "complete"
	// ResultInputRequired is an [InputRequiredResult].
	ResultInputRequired ResultType = "input_required"
	// ResultTask is a [CreateTaskResult] of the tasks extension.
	ResultTask ResultType = "task"
)

// ResultTypeOf returns the type of the result whose JSON data begins with, by its own members only, without changing
// data: it is to be asked before [DecodeInPlace]. It stops at the member resultType and looks no further, so what
// follows may be invalid.
func ResultTypeOf(data []byte) (ResultType, error) {
	const usual = `{"resultType":"complete"` // needs no walk
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
