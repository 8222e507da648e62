package mcp

import "encoding/json"

// ElicitParams are the params of elicitation/create, from 2025-06-18: the server asks the user for input, through a
// form that the client shows or, from 2025-11-25, at a URL. In 2026-07-28, elicitation/create is an [InputRequest]
// inside a result or a task. See https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation.
type ElicitParams struct {
	Meta    Meta       `json:"_meta,omitzero"` // until 2025-11-25
	Mode    ElicitMode `json:"mode,omitzero"`  // absent means form
	Message string     `json:"message"`        // shown to the user

	// RequestedSchema describes the fields of a form, in the subset of JSON Schema that [FormSchema] supports.
	RequestedSchema json.RawMessage `json:"requestedSchema,omitzero" mcp:"object"`

	URL           string `json:"url,omitzero"`           // the client opens the URL only after the user has agreed
	ElicitationID string `json:"elicitationId,omitzero"` // identifies a URL elicitation; in 2025-11-25 only

	Task *TaskMetadata `json:"task,omitzero"` // in 2025-11-25 only
}

// Form decodes RequestedSchema.
func (p *ElicitParams) Form() (*FormSchema, error) {
	s := new(FormSchema)
	if err := json.Unmarshal(p.RequestedSchema, s); err != nil {
		return nil, within("requestedSchema", err)
	}
	return s, nil
}

func (p *ElicitParams) check() error {
	switch p.Mode {
	case "", ElicitForm:
		if p.RequestedSchema == nil {
			return within("requestedSchema", errMissing)
		}
	case ElicitURL:
		if p.URL == "" {
			return within("url", errMissing)
		}
	}
	return nil
}

// ElicitMode is the way in which the client asks the user.
type ElicitMode string

const (
	ElicitForm ElicitMode = "form"
	ElicitURL  ElicitMode = "url"
)

// ElicitResult answers elicitation/create.
type ElicitResult struct {
	Result
	Action ElicitAction `json:"action" mcp:"required"`
	// Content holds the accepted values of a form: strings, numbers, booleans and lists of strings.
	Content map[string]any `json:"content,omitzero"`
}

// ElicitAction is the user's decision.
type ElicitAction string

const (
	ElicitAccept  ElicitAction = "accept"
	ElicitDecline ElicitAction = "decline" // the user refused
	ElicitCancel  ElicitAction = "cancel"  // the user dismissed the request without a decision
)

// ElicitationCompleteParams are the params of notifications/elicitation/complete, in 2025-11-25 only: the user has
// finished a URL elicitation.
type ElicitationCompleteParams struct {
	Meta          Meta   `json:"_meta,omitzero"`
	ElicitationID string `json:"elicitationId" mcp:"required"`
}
