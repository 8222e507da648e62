package mcp

import (
	"encoding/json"
	"errors"
)

// InputRequiredResult answers tools/call, prompts/get or resources/read, from 2026-07-28, when the server needs
// something from the client first. The client answers InputRequests, if there are any, and sends the request again,
// under another id, with an [InputRound]. See
// https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr.
type InputRequiredResult struct {
	Result
	InputRequests InputRequests `json:"inputRequests,omitzero"`
	RequestState  *string       `json:"requestState,omitzero"` // to be sent back exactly; for the server alone
}

func (r *InputRequiredResult) check() error {
	if r.InputRequests == nil && r.RequestState == nil {
		return errors.New("neither inputRequests nor requestState")
	}
	return nil
}

// InputRound is what params have besides their own when a request is sent again after an [InputRequiredResult].
type InputRound struct {
	InputResponses InputResponses `json:"inputResponses,omitzero"` // with the keys of the InputRequests
	RequestState   *string        `json:"requestState,omitzero"`   // nil if the result had none
}

// InputRequests are requests of the server to the client under keys that the server chose.
type InputRequests map[string]InputRequest

// InputRequest is a request of the server that is part of a result or of a task: sampling/createMessage, roots/list or
// elicitation/create. [Lookup] has the types of its params and of the result to answer with.
type InputRequest struct {
	Method string          `json:"method" mcp:"required"`
	Params json.RawMessage `json:"params,omitzero" mcp:"object"`
}

// InputResponses are results, encoded, under the keys of the requests they answer.
type InputResponses map[string]json.RawMessage
