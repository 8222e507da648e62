package clientinput

import (
	"errors"
	"fmt"
	"slices"

	"github.com/mcpotel/mcpotel/mcp"
)

// CheckMessages validates the params of sampling/createMessage. It does not check the capabilities of the client: see
// [UsesTools].
func CheckMessages(p *mcp.CreateMessageParams) error {
	switch {
	case p.MaxTokens < 1:
		return fmt.Errorf("maxTokens is %d, want at least 1", p.MaxTokens)
	case p.ToolChoice != nil && !slices.Contains(toolChoices, p.ToolChoice.Mode):
		return fmt.Errorf("toolChoice.mode is %q, want one of %q", p.ToolChoice.Mode, toolChoices[1:])
	}
	if err := checkPreferences(p.ModelPreferences); err != nil {
		return err
	}
	return checkConversation(p.Messages)
}

// toolChoices are the valid modes; the empty mode means that the request has no mode.
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

// checkConversation validates the messages of a request: the message after a tool use must come from the user and
// contain the results of all tool uses, and nothing else. (specification 2026-07-28, client/sampling, "Message Content
// Constraints")
func checkConversation(messages []*mcp.SamplingMessage) error {
	var open []string // tool uses of the previous message
	for i, m := range messages {
		if m == nil {
			return fmt.Errorf("messages[%d] is null", i)
		}
		if m.Role != mcp.RoleUser && m.Role != mcp.RoleAssistant {
			return fmt.Errorf("messages[%d].role is %q, want user or assistant", i, m.Role)
		}
		uses, results, others := sortContent(m.Content)
		switch {
		case len(m.Content) == 0 || slices.Contains(m.Content, nil):
			return fmt.Errorf("messages[%d].content is empty or has an empty block", i)
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

// UsesTools reports whether a request requires the capability sampling.tools.
func UsesTools(p *mcp.CreateMessageParams) bool {
	return p.Tools != nil || p.ToolChoice != nil || slices.ContainsFunc(p.Messages, func(m *mcp.SamplingMessage) bool {
		if m == nil {
			return false
		}
		uses, results, _ := sortContent(m.Content)
		return len(uses)+len(results) > 0
	})
}

// ToolRounds returns how many messages of a request contain tool results.
func ToolRounds(p *mcp.CreateMessageParams) (rounds int) {
	for _, m := range p.Messages {
		if _, results, _ := sortContent(m.Content); len(results) > 0 {
			rounds++
		}
	}
	return rounds
}

// sortContent returns the ids of the tool uses, the tool use ids of the tool results, and the number of other blocks.
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

// sameMembers reports whether a and b are equal except for their order.
func sameMembers(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// CheckMessage validates the result of sampling/createMessage: its role must be assistant, and it may use only tools of
// the request, each use with a unique id.
func CheckMessage(r *mcp.CreateMessageResult, p *mcp.CreateMessageParams) error {
	_, results, _ := sortContent(r.Content)
	switch {
	case r.Role != mcp.RoleAssistant:
		return fmt.Errorf("the role is %q, want %q", r.Role, mcp.RoleAssistant)
	case r.Model == "":
		return errors.New("the model has no name")
	case len(r.Content) == 0 || slices.Contains(r.Content, nil):
		return errors.New("the content is empty, or has a nil block")
	case len(results) > 0:
		return errors.New("the message has tool results, which only the server may send")
	}
	seen := map[string]bool{}
	for _, block := range r.Content {
		use, ok := block.(*mcp.ToolUseContent)
		switch {
		case !ok:
			continue
		case p.ToolChoice != nil && p.ToolChoice.Mode == mcp.ToolChoiceNone:
			return fmt.Errorf("the model uses %q, but toolChoice is none", use.Name)
		case !slices.ContainsFunc(p.Tools, func(t *mcp.Tool) bool { return t != nil && t.Name == use.Name }):
			return fmt.Errorf("the model uses %q, which is not a tool of the request", use.Name)
		case use.ID == "" || seen[use.ID]:
			return fmt.Errorf("the use of %q has the id %q, want a unique id", use.Name, use.ID)
		}
		seen[use.ID] = true
	}
	return nil
}

// UsesAny reports whether content uses a tool.
func UsesAny(content mcp.SamplingContent) bool {
	uses, _, _ := sortContent(content)
	return len(uses) > 0
}
