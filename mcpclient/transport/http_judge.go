package transport

import (
	"errors"

	"github.com/mcpotel/mcpotel/internal/jsonrpc"
)

// Codes of errors that only servers of the modern era give, and -32601.
const (
	headerMismatch     = -32020
	missingCapability  = -32021
	unsupportedVersion = -32022
	methodNotFound     = -32601
)

// answers reports whether data are the answer to the request with this id, or a batch that contains it.
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

// answersAlone reports whether the message, or the attempt at one, is the answer to the request with this id. An error
// without an id is: it came where only this request can be meant.
func answersAlone(m *jsonrpc.Message, err error, id int64) bool {
	if v, ok := errors.AsType[*jsonrpc.Violation](err); ok {
		return v.Response && v.ID == jsonrpc.IntID(id)
	}
	return isResponse(m) && (m.ID == jsonrpc.IntID(id) || m.ID.IsZero())
}

func isResponse(m *jsonrpc.Message) bool { return m.Kind == jsonrpc.Result || m.Kind == jsonrpc.Error }

// isAnswer reports whether data are a JSON-RPC response.
func isAnswer(data []byte) bool {
	m, err := jsonrpc.Parse(data)
	return err == nil && isResponse(&m) && m.Check() == nil
}

// errorCode returns the code of the JSON-RPC error that data are, 0 if they are none.
func errorCode(data []byte) int64 {
	m, err := jsonrpc.Parse(data)
	if err != nil || m.Kind != jsonrpc.Error {
		return 0
	}
	e, _ := m.Failure() // what could be read is returned even so
	return e.Code
}

// isModern reports whether data are an error that tells a server of the modern era.
// (specification 2026-07-28, basic/transports/streamable-http, "Backward Compatibility")
func isModern(data []byte) bool {
	switch errorCode(data) {
	case headerMismatch, missingCapability, unsupportedVersion:
		return true
	}
	return false
}

// isAnswerTo reports whether data, of which the ends were kept, are the answer to the request with this id.
func isAnswerTo(head, tail []byte, id int64) bool {
	v := jsonrpc.TooLarge(head, tail)
	return v.Response && (v.ID == jsonrpc.IntID(id) || v.ID.IsZero())
}
