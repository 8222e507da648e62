package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mcpotel/mcpotel/internal/clientinput"
	"github.com/mcpotel/mcpotel/internal/given"
	"github.com/mcpotel/mcpotel/mcp"
)

// CreateMessage asks the client's model for a message. It is like [RequestInfo.AskAll] with a single question.
//
// Tools, a ToolChoice and blocks of tool use require the capability sampling.tools. IncludeContext is a preference;
// CreateMessage omits it if the client does not support it. CreateMessage does not send p.Task. Before 2025-11-25 a
// message has exactly one block. CreateMessage validates the messages against the specification before it sends
// them, and validates the answer: the model may use only the tools of p.
// (specification 2026-07-28, client/sampling, which deprecates sampling)
func (r *RequestInfo) CreateMessage(ctx context.Context, p *mcp.CreateMessageParams) (*mcp.CreateMessageResult,
	error) {
	result := new(mcp.CreateMessageResult)
	if err := r.AskAll(ctx, AskCreateMessage("", p, result)); err != nil {
		return nil, err
	}
	return result, nil
}

// AskCreateMessage returns an [Ask] with the question of [RequestInfo.CreateMessage]. The server stores the answer
// in result, unless result is nil.
func AskCreateMessage(key string, p *mcp.CreateMessageParams, result *mcp.CreateMessageResult) *Ask {
	return &Ask{key, &messageQuestion{p, result}}
}

type messageQuestion struct {
	asked  *mcp.CreateMessageParams
	result *mcp.CreateMessageResult
}

func (*messageQuestion) Method() string { return mcp.MethodCreateMessage }

func (q *messageQuestion) check() error {
	if q.asked == nil || len(q.asked.Messages) == 0 {
		return errors.New("no messages")
	}
	return clientinput.CheckMessages(q.asked)
}

func (q *messageQuestion) missing(v mcp.Version, declared, need *mcp.ClientCapabilities) bool {
	tools := clientinput.UsesTools(q.asked)
	if declared.Sampling != nil && (!tools || v >= mcp.Version20251125 && declared.Sampling.Tools != nil) {
		return false
	}
	if need.Sampling == nil {
		need.Sampling = &mcp.SamplingCapability{}
	}
	if tools {
		need.Sampling.Tools = mcp.Object{}
	}
	return true
}

func (q *messageQuestion) params(v mcp.Version, declared *mcp.ClientCapabilities) (any, error) {
	shown := *q.asked
	shown.Task = nil
	if v.Era() == mcp.Modern {
		shown.Meta = nil
	}
	if v >= mcp.Version20251125 && (declared.Sampling == nil || declared.Sampling.Context == nil) {
		shown.IncludeContext = ""
	}
	if q.asked.Tools != nil {
		shown.Tools = make([]*mcp.Tool, len(q.asked.Tools))
		for i, t := range q.asked.Tools {
			if t == nil {
				return nil, fmt.Errorf("tools[%d] is nil", i)
			}
			shown.Tools[i] = toolIn(t, v)
		}
	}
	if v >= mcp.Version20251125 {
		return &shown, nil
	}
	shown.Messages = make([]*mcp.SamplingMessage, len(q.asked.Messages))
	for i, m := range q.asked.Messages {
		if err := oneBlock(m.Content, v); err != nil {
			return nil, fmt.Errorf("messages[%d]: %w", i, err)
		}
		shown.Messages[i] = &mcp.SamplingMessage{Role: m.Role, Content: mcp.SamplingContent{blockIn(m.Content[0], v)}}
	}
	return &shown, nil
}

// oneBlock returns an error if the content does not fit into a message of a revision before 2025-11-25.
func oneBlock(c mcp.SamplingContent, v mcp.Version) error {
	if len(c) != 1 {
		return fmt.Errorf("%w: a message of revision %s has one block, not %d", ErrUnsupported, v, len(c))
	}
	if _, audio := c[0].(*mcp.AudioContent); audio && v < mcp.Version20250326 {
		return fmt.Errorf("%w: revision %s has no audio", ErrUnsupported, v)
	}
	return nil
}

func (q *messageQuestion) Take(_ context.Context, answer json.RawMessage) error {
	var taken mcp.CreateMessageResult
	if err := given.Decode(answer, &taken); err != nil {
		return err
	}
	if err := clientinput.CheckMessage(&taken, q.asked); err != nil {
		return err
	}
	if q.result != nil {
		*q.result = taken
	}
	return nil
}
