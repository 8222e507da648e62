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
// user does not want that. Of the params only MaxTokens binds; which model it is, and with which system prompt, is for
// the client to decide.
type SamplingHandler func(ctx context.Context, p *mcp.CreateMessageParams) (*mcp.CreateMessageResult, error)

// SamplingOptions say what a client's model can do. The zero value is a model that uses no tools.
type SamplingOptions struct {
	// Tools declares that the model may use the tools that a request brings: the result asks for the uses, the server
	// carries them out and asks anew. From 2025-11-25.
	Tools bool

	// Context declares that the client can add context of this or of all its servers to the conversation, see
	// [mcp.IncludeContext]. Otherwise a wish for that does not reach the handler. The protocol deprecates it.
	Context bool

	// MaxToolRounds is how many rounds of tools a conversation may have: uses by the model, and their results. A request
	// with as many is refused, with -32602, unless its toolChoice is none, which makes the model come to an end. Zero
	// means 32, a negative number no limit. What is counted is what the request brings; a server that leaves rounds out is
	// bounded by what bounds the handler.
	// (specification 2026-07-28, client/sampling, "Security Considerations")
	MaxToolRounds int
}

// codeRejected is what a server gets to see if the user does not want what it asks for. (specification 2025-11-25,
// client/sampling, "Error Handling")
const codeRejected = -1

// HandleSampling declares that the client has a model, and lets h ask it: for sampling/createMessage of a legacy
// server, and for what a modern one needs before it can answer a call. o may be nil.
//
// A request that the protocol does not allow gets -32602 without h: one with tools that were not declared, with a tool
// use whose result is missing, with results mixed with other content. Nor does a result leave that the protocol does
// not allow: it is an error of h. What h leaves out and can be concluded is filled in: the role, and the reason to stop
// that there is when tools are to be used. A person should see what is asked and what is answered.
//
// The protocol has deprecated sampling in 2026-07-28, in favour of servers with a model of their own.
// (specification 2026-07-28, client/sampling)
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
		declared = *c.Sampling // the user's stays as it is
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

// checkRequest says what is wrong with a request. The text goes to the server.
func (s *sampler) checkRequest(p *mcp.CreateMessageParams) error {
	if !s.Tools && clientinput.UsesTools(p) {
		return errors.New("tools, and uses of them, need the capability sampling.tools, which was not declared")
	}
	if err := clientinput.CheckMessages(p); err != nil {
		return err
	}
	last := p.ToolChoice != nil && p.ToolChoice.Mode == mcp.ToolChoiceNone
	rounds, most := clientinput.ToolRounds(p), cmp.Or(s.MaxToolRounds, 32)
	if rounds >= most && most > 0 && !last {
		return fmt.Errorf("the conversation has had %d rounds of tools, of %d that it may have: "+
			"let it end, with toolChoice none", rounds, most)
	}
	return nil
}

// complete fills in what can be concluded, and says what is wrong with the rest, for a server of version v.
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
		return errors.New("the model has stopped to use tools, and uses none")
	case r.StopReason == mcp.StopEndTurn && uses:
		return errors.New("the model uses tools, but has ended its turn")
	}
	if err := clientinput.CheckMessage(r, p); err != nil {
		return err
	}
	return older(r, v)
}

// older makes of a result what a server of version v can read: before 2025-11-25 a message has one block, before
// 2025-06-18 a block no _meta and no date, before 2025-03-26 a message no sound.
func older(r *mcp.CreateMessageResult, v mcp.Version) error {
	if v == "" {
		return nil // the session is over: no server waits for the answer
	}
	if len(r.Content) > 1 && v < mcp.Version20251125 {
		var texts []string
		for _, block := range r.Content {
			text, ok := block.(*mcp.TextContent)
			if !ok {
				return fmt.Errorf("a server of %s takes one block, or text", v)
			}
			texts = append(texts, text.Text)
		}
		r.Content = mcp.SamplingContent{mcp.Text(strings.Join(texts, "\n"))}
	}
	if _, sound := r.Content[0].(*mcp.AudioContent); sound && v < mcp.Version20250326 {
		return fmt.Errorf("a server of %s takes no sound", v)
	}
	if v < mcp.Version20250618 {
		r.Content = mcp.SamplingContent{plain(r.Content[0])}
	}
	return nil
}

// plain returns a block as revisions before 2025-06-18 have it.
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
