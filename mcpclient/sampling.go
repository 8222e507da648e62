package mcpclient

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mcpotel/mcpotel/mcp"
)

// SamplingHandler asks a model for the next message of a conversation. A nil result without an error means that the user
// does not want that. Of the params only MaxTokens binds; which model it is, and with which system prompt, is for the
// client to decide.
type SamplingHandler func(ctx context.Context, p *mcp.CreateMessageParams) (*mcp.CreateMessageResult, error)

// SamplingOptions say what a client's model can do. The zero value is a model that uses no tools.
type SamplingOptions struct {
	// Tools declares that the model may use the tools that a request brings: the result asks for the uses, the server carries
	// them out and asks anew. From 2025-11-25.
	Tools bool

	// Context declares that the client can add context of this or of all its servers to the conversation, see
	// [mcp.IncludeContext]. Otherwise a wish for that does not reach the handler. The protocol deprecates it.
	Context bool
}

// codeRejected is what a server gets to see if the user does not want what it asks for. (specification 2025-11-25,
// client/sampling, "Error Handling")
const codeRejected = -1

// HandleSampling declares that the client has a model, and lets h ask it: for sampling/createMessage of a legacy server,
// and for what a modern one needs before it can answer a call. o may be nil.
//
// A request that the protocol does not allow gets -32602 without h: one with tools that were not declared, with a tool
// use whose result is missing, with results mixed with other content. Nor does a result leave that the protocol does not
// allow: it is an error of h. What h leaves out and can be concluded is filled in: the role, and the reason to stop that
// there is when tools are to be used. A person should see what is asked and what is answered.
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
				return c.answer(mcp.MethodCreateMessage, nil)
			}
			return c.answer(mcp.MethodCreateMessage, func(ctx context.Context, r *Request) (any, error) {
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
	switch {
	case !s.Tools && (p.Tools != nil || p.ToolChoice != nil):
		return errors.New("tools need the capability sampling.tools, which was not declared")
	case p.MaxTokens < 1:
		return fmt.Errorf("maxTokens is %d, want at least 1", p.MaxTokens)
	case p.ToolChoice != nil && !slices.Contains(toolChoices, p.ToolChoice.Mode):
		return fmt.Errorf("toolChoice.mode is %q, want one of %q", p.ToolChoice.Mode, toolChoices[1:])
	}
	if err := checkPreferences(p.ModelPreferences); err != nil {
		return err
	}
	return s.checkConversation(p.Messages)
}

// toolChoices are the modes there are, absent the first.
var toolChoices = []mcp.ToolChoiceMode{"", mcp.ToolChoiceAuto, mcp.ToolChoiceRequired, mcp.ToolChoiceNone}

func checkPreferences(p *mcp.ModelPreferences) error {
	if p == nil {
		return nil
	}
	for _, priority := range []struct {
		name  string
		value *float64
	}{{"cost", p.CostPriority}, {"speed", p.SpeedPriority}, {"intelligence", p.IntelligencePriority}} {
		if v := priority.value; v != nil && (*v < 0 || *v > 1) {
			return fmt.Errorf("modelPreferences.%sPriority is %v, want 0 to 1", priority.name, *v)
		}
	}
	return nil
}

// checkConversation says what is wrong with the messages of a request: every use of a tool has its result in the next
// message, which is the user's and has nothing else.
// (specification 2026-07-28, client/sampling, "Message Content Constraints")
func (s *sampler) checkConversation(messages []*mcp.SamplingMessage) error {
	var open []string // the uses of the message before
	for i, m := range messages {
		if m == nil {
			return fmt.Errorf("messages[%d] is null", i)
		}
		if m.Role != mcp.RoleUser && m.Role != mcp.RoleAssistant {
			return fmt.Errorf("messages[%d].role is %q, want user or assistant", i, m.Role)
		}
		uses, results, others := sortContent(m.Content)
		switch {
		case len(m.Content) == 0:
			return fmt.Errorf("messages[%d].content is empty", i)
		case !s.Tools && len(uses)+len(results) > 0:
			return fmt.Errorf("messages[%d] has uses of tools, which need the capability sampling.tools", i)
		case len(uses) > 0 && m.Role != mcp.RoleAssistant:
			return fmt.Errorf("messages[%d]: only the assistant uses tools", i)
		case len(results) > 0 && m.Role != mcp.RoleUser:
			return fmt.Errorf("messages[%d]: only the user has results of tools", i)
		case len(results) > 0 && others > 0:
			return fmt.Errorf("messages[%d]: tool results mixed with other content", i)
		case !sameMembers(open, results):
			return fmt.Errorf("messages[%d]: tool result missing in request: uses %q, results %q", i, open, results)
		}
		open = uses
	}
	if len(open) > 0 {
		return fmt.Errorf("tool result missing in request: uses %q", open)
	}
	return nil
}

// sortContent returns the ids of the tool uses, those that the tool results are of, and how many other blocks there are.
func sortContent(content mcp.SamplingContent) (uses, results []string, others int) {
	for _, block := range content {
		switch b := block.(type) {
		case *mcp.ToolUseContent:
			uses = append(uses, b.ID)
		case *mcp.ToolResultContent:
			results = append(results, b.ToolUseID)
		default:
			others++
		}
	}
	return uses, results, others
}

// sameMembers reports whether a and b are the same but for their order.
func sameMembers(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// complete fills in what can be concluded, and says what is wrong with the rest, for a server of version v.
func complete(r *mcp.CreateMessageResult, p *mcp.CreateMessageParams, v mcp.Version) error {
	uses, results, _ := sortContent(r.Content)
	if r.Role == "" {
		r.Role = mcp.RoleAssistant
	}
	if r.StopReason == "" && len(uses) > 0 {
		r.StopReason = mcp.StopToolUse
	}
	switch {
	case r.Role != mcp.RoleAssistant:
		return fmt.Errorf("the role is %q, want %q", r.Role, mcp.RoleAssistant)
	case r.Model == "":
		return errors.New("the model has no name")
	case len(r.Content) == 0 || slices.Contains(r.Content, nil):
		return errors.New("there is no content, or a nil block of it")
	case len(results) > 0:
		return errors.New("the results of tools are the server's to give")
	case r.StopReason == mcp.StopToolUse && len(uses) == 0:
		return errors.New("the model has stopped to use tools, and uses none")
	case r.StopReason == mcp.StopEndTurn && len(uses) > 0:
		return errors.New("the model uses tools, but has ended its turn")
	}
	if err := checkUses(r.Content, p); err != nil {
		return err
	}
	return older(r, v)
}

// checkUses says what is wrong with the tool uses of a result.
func checkUses(content mcp.SamplingContent, p *mcp.CreateMessageParams) error {
	seen := map[string]bool{}
	for _, block := range content {
		use, ok := block.(*mcp.ToolUseContent)
		switch {
		case !ok:
			continue
		case p.ToolChoice != nil && p.ToolChoice.Mode == mcp.ToolChoiceNone:
			return fmt.Errorf("the model uses %q, but was to use no tool", use.Name)
		case !slices.ContainsFunc(p.Tools, func(t *mcp.Tool) bool { return t != nil && t.Name == use.Name }):
			return fmt.Errorf("the model uses %q, which is no tool of the request", use.Name)
		case use.ID == "" || seen[use.ID]:
			return fmt.Errorf("the use of %q has the id %q, want one of its own", use.Name, use.ID)
		}
		seen[use.ID] = true
	}
	return nil
}

// older makes of a result what a server of version v can read: before 2025-11-25 a message has one block, before 2025-06-18 a
// block no _meta and no date, before 2025-03-26 a message no sound.
func older(r *mcp.CreateMessageResult, v mcp.Version) error {
	if v == "" {
		return nil // it is gone, and so is whoever waits
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
