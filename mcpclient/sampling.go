package mcpclient

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/mcpotel/mcpotel/internal/clientinput"
	"github.com/mcpotel/mcpotel/mcp"
)

// SamplingHandler asks a model for the next message of a conversation. A nil result without an error means that the
// user refused. Only MaxTokens of the params is binding; the client may choose the model and the system prompt.
type SamplingHandler func(ctx context.Context, p *mcp.CreateMessageParams) (*mcp.CreateMessageResult, error)

// SamplingOptions describes the client's model. The zero value describes a model that uses no tools.
type SamplingOptions struct {
	// Tools declares that the model may use the tools of a request: the result then requests tool uses, and the server
	// carries them out and sends another request. It requires revision 2025-11-25 or later.
	Tools bool

	// Context declares that the client can add context of this server, or of all its servers, to the conversation, see
	// [mcp.IncludeContext]. Without it, the client clears IncludeContext before it calls the handler. The protocol
	// deprecates this feature.
	Context bool

	// MaxToolRounds is the maximum number of tool rounds in a conversation. A round consists of tool uses by the model and
	// their results. The client refuses a request with this number of rounds or more, with -32602. It accepts the request
	// if its toolChoice is none, because the model then finishes. Zero means 32, and a negative value means no limit. Only
	// the rounds in the request count. If a server omits earlier rounds, the client cannot count them, and the handler
	// must apply limits of its own. (specification 2026-07-28, client/sampling, "Security Considerations")
	MaxToolRounds int
}

// codeRejected is the error code that the server gets if the user refuses its request. (specification 2025-11-25,
// client/sampling, "Error Handling")
const codeRejected = -1

// HandleSampling declares that the client has a model, and calls h to ask it: for sampling/createMessage of a legacy
// server, and for requests for input of a modern one. o may be nil.
//
// The client answers an invalid request with -32602 without calling h. A request is invalid if it has tools that the
// client did not declare, a tool use without its result, or results mixed with other content. An invalid result counts
// as an error of h and is not sent. The client fills in missing members of the result that follow from other members:
// the role, and the stop reason for tool uses. A person should review both the request and the answer.
//
// The protocol deprecated sampling in 2026-07-28, in favour of servers with models of their own. (specification
// 2026-07-28, client/sampling)
func HandleSampling(h SamplingHandler, o *SamplingOptions) Feature {
	var s sampler
	if s.handler = h; o != nil {
		s.SamplingOptions = *o
	}
	return feature{
		declare: s.declare,
		join: func(c *Client) error {
			if h == nil {
				return c.answering.add(mcp.MethodCreateMessage, nil)
			}
			return c.answering.add(mcp.MethodCreateMessage, func(ctx context.Context, r *Request) (any, error) {
				return s.answer(ctx, r, c.ProtocolVersion())
			})
		},
	}
}

// sampler answers sampling/createMessage.
type sampler struct {
	SamplingOptions
	handler SamplingHandler
}

func (s *sampler) declare(c *mcp.ClientCapabilities) {
	var declared mcp.SamplingCapability
	if c.Sampling != nil {
		declared = *c.Sampling // a copy, so that the user's value stays unchanged
	}
	if s.Tools {
		declared.Tools = mcp.Object{}
	}
	if s.Context {
		declared.Context = mcp.Object{}
	}
	c.Sampling = &declared
}

func (s *sampler) answer(ctx context.Context, r *Request, v mcp.Version) (any, error) {
	p := new(mcp.CreateMessageParams)
	if err := r.Decode(p); err != nil {
		return nil, invalidParams("%w", err)
	}
	if err := s.checkRequest(p); err != nil {
		return nil, invalidParams("%w", err)
	}
	if !s.Context {
		p.IncludeContext = ""
	}
	result, err := s.handler(ctx, p)
	switch {
	case err != nil:
		return nil, err
	case result == nil:
		return nil, &mcp.Error{Code: codeRejected, Message: "User rejected sampling request"}
	}
	sampled := *result
	if err := complete(&sampled, p, v); err != nil {
		return nil, fmt.Errorf("sampled message: %w", err)
	}
	return &sampled, nil
}

// checkRequest validates a request. The server gets the text of the error.
func (s *sampler) checkRequest(p *mcp.CreateMessageParams) error {
	if !s.Tools && clientinput.UsesTools(p) {
		return errors.New("tools and tool uses require the capability sampling.tools, which the client has not declared")
	}
	if err := clientinput.CheckMessages(p); err != nil {
		return err
	}
	last := p.ToolChoice != nil && p.ToolChoice.Mode == mcp.ToolChoiceNone
	rounds, most := clientinput.ToolRounds(p), cmp.Or(s.MaxToolRounds, 32)
	if rounds >= most && most > 0 && !last {
		return fmt.Errorf("the conversation has %d rounds of tool use and the limit is %d; "+
			"end it with toolChoice none", rounds, most)
	}
	return nil
}

// complete fills in missing members, and then validates the result for a server of version v.
func complete(r *mcp.CreateMessageResult, p *mcp.CreateMessageParams, v mcp.Version) error {
	uses := clientinput.UsesAny(r.Content)
	if r.Role == "" {
		r.Role = mcp.RoleAssistant
	}
	if r.StopReason == "" && uses {
		r.StopReason = mcp.StopToolUse
	}
	switch {
	case r.StopReason == mcp.StopToolUse && !uses:
		return errors.New("the stop reason is toolUse, but the message uses no tool")
	case r.StopReason == mcp.StopEndTurn && uses:
		return errors.New("the stop reason is endTurn, but the message uses tools")
	}
	if err := clientinput.CheckMessage(r, p); err != nil {
		return err
	}
	return older(r, v)
}

// older converts a result for a server of version v. Before 2025-11-25 a message has one block, before 2025-06-18 a
// block has neither _meta nor a date, and before 2025-03-26 a message has no audio.
func older(r *mcp.CreateMessageResult, v mcp.Version) error {
	if v == "" {
		return nil // the session has ended: no server waits for the answer
	}
	if len(r.Content) > 1 && v < mcp.Version20251125 {
		var texts []string
		for _, block := range r.Content {
			text, ok := block.(*mcp.TextContent)
			if !ok {
				return fmt.Errorf("a server of revision %s accepts either one content block or several text blocks", v)
			}
			texts = append(texts, text.Text)
		}
		r.Content = mcp.SamplingContent{mcp.Text(strings.Join(texts, "\n"))}
	}
	if _, sound := r.Content[0].(*mcp.AudioContent); sound && v < mcp.Version20250326 {
		return fmt.Errorf("a server of revision %s does not accept audio", v)
	}
	if v < mcp.Version20250618 {
		r.Content = mcp.SamplingContent{plain(r.Content[0])}
	}
	return nil
}

// plain converts a block for revisions before 2025-06-18.
func plain(block mcp.Content) mcp.Content {
	switch b := block.(type) {
	case *mcp.TextContent:
		return &mcp.TextContent{Text: b.Text, Annotations: undated(b.Annotations)}
	case *mcp.ImageContent:
		return &mcp.ImageContent{Data: b.Data, MIMEType: b.MIMEType, Annotations: undated(b.Annotations)}
	case *mcp.AudioContent:
		return &mcp.AudioContent{Data: b.Data, MIMEType: b.MIMEType, Annotations: undated(b.Annotations)}
	}
	return block
}

func undated(a *mcp.Annotations) *mcp.Annotations {
	if a == nil || a.LastModified == "" {
		return a
	}
	return &mcp.Annotations{Audience: a.Audience, Priority: a.Priority}
}
