package mcp

import (
	"encoding/json"
	"errors"
)

// InputRequiredResult answers tools/call, prompts/get or resources/read, from 2026-07-28, if the server first needs
// input from the client. The client answers the InputRequests, if any, and repeats the request under another id with
// an [InputRound]. See https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr.
type InputRequiredResult struct {
	Result
	InputRequests InputRequests `json:"inputRequests,omitzero"`
	RequestState  *string       `json:"requestState,omitzero"` // opaque to the client, which sends it back unchanged
}

func (r *InputRequiredResult) check() error {
	if r.InputRequests == nil && r.RequestState == nil {
		return errors.New("inputRequests and requestState are both missing")
	}
	return nil
}

// InputRound holds the additional params of a request that the client repeats after an [InputRequiredResult].
type InputRound struct {
	InputResponses InputResponses `json:"inputResponses,omitzero"` // by the keys of the InputRequests
	RequestState   *string        `json:"requestState,omitzero"`   // nil if the result had no RequestState
}

// InputRequests are the server's requests to the client, by keys that the server chose.
type InputRequests map[string]InputRequest

// InputRequest is a request of the server inside a result or a task: sampling/createMessage, roots/list or
// elicitation/create. [Lookup] returns the types of its params and of its result.
type InputRequest struct {
	Method string          `json:"method" mcp:"required"`
	Params json.RawMessage `json:"params,omitzero" mcp:"object"`
}

// InputResponses are encoded results. Each has the key of the request that it answers.
type InputResponses map[string]json.RawMessage
