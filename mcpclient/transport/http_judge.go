package transport

import (
	"errors"

	"github.com/mcpotel/mcpotel/internal/jsonrpc"
)

// Error codes that only servers of the modern era send, and -32601, which both eras send.
const (
	headerMismatch     = -32020
	missingCapability  = -32021
	unsupportedVersion = -32022
	methodNotFound     = -32601
)

// answers reports whether data is the response to the request with this id, or a batch that contains it.
func answers(data []byte, id int64) bool {
	m, err := jsonrpc.Parse(data)
	if v, ok := errors.AsType[*jsonrpc.Violation](err); !ok || v.Reason != jsonrpc.BatchFrame {
		return answersAlone(&m, err, id)
	}
	batch, err := jsonrpc.Batch(data)
	if err != nil {
		return false
	}
	for element := range batch {
		if m, err := jsonrpc.Parse(element); answersAlone(&m, err, id) {
			return true
		}
	}
	return false
}

// answersAlone reports whether a single message, valid or not, is the response to the request with this id. An
// error without an id counts, because only this request can be meant.
func answersAlone(m *jsonrpc.Message, err error, id int64) bool {
	if v, ok := errors.AsType[*jsonrpc.Violation](err); ok {
		return v.Response && v.ID == jsonrpc.IntID(id)
	}
	return isResponse(m) && (m.ID == jsonrpc.IntID(id) || m.ID.IsZero())
}

func isResponse(m *jsonrpc.Message) bool { return m.Kind == jsonrpc.Result || m.Kind == jsonrpc.Error }

// isAnswer reports whether data is a JSON-RPC response.
func isAnswer(data []byte) bool {
	m, err := jsonrpc.Parse(data)
	return err == nil && isResponse(&m) && m.Check() == nil
}

// errorCode returns the code of a JSON-RPC error, 0 if data is not one.
func errorCode(data []byte) int64 {
	m, err := jsonrpc.Parse(data)
	if err != nil || m.Kind != jsonrpc.Error {
		return 0
	}
	e, _ := m.Failure() // a partly valid error is used too
	return e.Code
}

// isModern reports whether data is an error that only a server of the modern era sends.
// (specification 2026-07-28, basic/transports/streamable-http, "Backward Compatibility")
func isModern(data []byte) bool {
	switch errorCode(data) {
	case headerMismatch, missingCapability, unsupportedVersion:
		return true
	}
	return false
}

// isAnswerTo reports whether a skipped frame, given its head and tail, is the response to the request with this
// id.
func isAnswerTo(head, tail []byte, id int64) bool {
	v := jsonrpc.TooLarge(head, tail)
	return v.Response && (v.ID == jsonrpc.IntID(id) || v.ID.IsZero())
}
