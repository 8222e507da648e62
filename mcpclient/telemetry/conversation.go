package telemetry

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"go.opentelemetry.io/otel/baggage"

	"github.com/mcpotel/mcpotel/internal/instrument/words"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// Conversation identifies the conversation, agent and user behind a program's calls. Empty fields are ignored.
type Conversation struct {
	ID      string // gen_ai.conversation.id: the conversation, or thread
	Agent   string // gen_ai.agent.name: the agent that makes the calls
	Session string // session.id: the user's session with the program

	// User is the user's id, which is never sent. The attribute user.hash is its SHA-256 in hexadecimal digits, or its
	// HMAC-SHA-256 with UserKey if that is set. Set a key if ids can be guessed, such as email addresses or small
	// numbers: without a key, a reader of the telemetry can hash a guess and compare. Programs need the same key to
	// write the same hash.
	User    string
	UserKey []byte
}

// ConversationKeys returns the baggage keys that [ContextWithConversation] writes. Pass them to [WithBaggageKeys],
// [NewTraceHandler] and otlp.WithBaggageAttributes to record a conversation everywhere.
func ConversationKeys() []string {
	return []string{names.KeyGenAIConversationID, names.KeyGenAIAgentName, names.KeySessionID, names.KeyUserHash}
}

// ContextWithConversation returns ctx with the fields of c in its baggage, for all calls with this context and for
// the calls that their servers make in turn. Other members of the baggage stay, including members for empty fields of
// c: an agent that calls another agent sets only Agent.
//
// If a field is not UTF-8 or longer than 256 bytes, the error names the field. There is also an error if the baggage
// would exceed 64 members or 8,192 bytes, the limits of its specification. With an error, the returned context is ctx
// itself.
func ContextWithConversation(ctx context.Context, c Conversation) (context.Context, error) {
	values := []string{c.ID, c.Agent, c.Session, c.userHash()}
	all := baggage.FromContext(ctx).Members()
	for i, key := range ConversationKeys() {
		switch {
		case values[i] == "":
			continue
		case len(values[i]) > words.MaxMember:
			return ctx, fmt.Errorf("telemetry: %s has %d bytes, more than %d", key, len(values[i]), words.MaxMember)
		}
		m, err := baggage.NewMemberRaw(key, values[i])
		if err != nil {
			return ctx, fmt.Errorf("telemetry: %s: %w", key, err)
		}
		all = append(all, m)
	}
	b, err := baggage.New(all...) // if several members have the same key, the last one counts
	if err != nil {
		return ctx, fmt.Errorf("telemetry: the baggage cannot hold the conversation: %w", err)
	}
	return baggage.ContextWithBaggage(ctx, b), nil
}

func (c *Conversation) userHash() string {
	switch {
	case c.User == "":
		return ""
	case len(c.UserKey) > 0:
		h := hmac.New(sha256.New, c.UserKey)
		h.Write([]byte(c.User))
		return hex.EncodeToString(h.Sum(nil))
	}
	sum := sha256.Sum256([]byte(c.User))
	return hex.EncodeToString(sum[:])
}
