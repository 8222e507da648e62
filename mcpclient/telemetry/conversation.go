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

// Conversation says whose calls a program makes. A field that is empty says nothing.
type Conversation struct {
	ID      string // gen_ai.conversation.id: of the conversation, or thread
	Agent   string // gen_ai.agent.name: of the agent that makes the calls
	Session string // session.id: of the user's session with the program

	// User is the user's id. It goes nowhere: user.hash is its SHA-256 in hexadecimal digits, or its HMAC-SHA-256 with
	// UserKey if there is one. Give a key where ids can be guessed, such as addresses of e-mail or small numbers: a reader
	// of the telemetry who guesses one finds its plain hash. Programs that are to write the same hash need the same key.
	User    string
	UserKey []byte
}

// ConversationKeys returns the keys of the baggage that [ContextWithConversation] writes. They are what
// [WithBaggageKeys], [NewTraceHandler] and otlp.WithBaggageAttributes take, for a conversation to be seen everywhere.
func ConversationKeys() []string {
	return []string{names.KeyGenAIConversationID, names.KeyGenAIAgentName, names.KeySessionID, names.KeyUserHash}
}

// ContextWithConversation returns ctx with what c says in its baggage, for all calls that are made with it: those of
// tools, and those that their servers make in turn. Other members of the baggage stay as they are, and so do those of
// which c says nothing: an agent that calls another one sets Agent alone.
//
// The error says which field is not UTF-8 or has more than 256 bytes, or that the baggage would have more than the 64
// members and 8,192 bytes of its specification. The context is ctx itself then.
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
	b, err := baggage.New(all...) // the last one counts of those with one key
	if err != nil {
		return ctx, fmt.Errorf("telemetry: no room for the conversation: %w", err)
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
