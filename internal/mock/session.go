package mock

import (
	"encoding/json"
	"strings"

	"github.com/mcpotel/mcpotel/internal/recording"
	"github.com/mcpotel/mcpotel/internal/relay"
	"github.com/mcpotel/mcpotel/mcp"
)

// session is a session of a recording. Any number of hosts may replay it. It is immutable except for played.
type session struct {
	reactions []*reaction
	byKey     map[string][]*reaction
	wild      []*reaction            // reactions with redacted params
	offered   mcp.SubscriptionFilter // union of the acknowledged filters
	listens   bool                   // the session has an acknowledged subscription
	played    bool                   // guarded by mock.mu
}

// reaction is a message of the host with the steps that follow, and its key for comparison.
type reaction struct {
	*recording.Reaction
	key   string
	value recording.Value
}

func newSession(reactions []*recording.Reaction, wild string) *session {
	s := &session{byKey: map[string][]*reaction{}}
	s.offered, s.listens = offered(reactions)
	for _, t := range reactions {
		v := compared(t.Method, t.Content)
		one := &reaction{t, keyed(t.Method, v), v}
		s.reactions = append(s.reactions, one)
		s.byKey[one.key] = append(s.byKey[one.key], one)
		if wild != "" && strings.Contains(one.key, wild) {
			s.wild = append(s.wild, one)
		}
	}
	return s
}

// compared returns the params of a message without the parts that need not match: the identity and capabilities of the
// host.
func compared(method string, params json.RawMessage) recording.Value {
	v := recording.ValueOf(params)
	if o, ok := v.(map[string]any); ok && method == mcp.MethodInitialize {
		return map[string]any{"protocolVersion": o["protocolVersion"]}
	}
	return v
}

func keyOf(method string, params json.RawMessage) string {
	return keyed(method, compared(method, params))
}

func keyed(method string, v recording.Value) string { return method + " " + recording.Text(v) }

// equal returns the reactions to messages equal to m, in order.
func (s *session) equal(m relay.Message, redacted string) (equal []*reaction) {
	v := compared(m.Method, m.Params)
	if equal = s.byKey[keyed(m.Method, v)]; equal != nil {
		return equal
	}
	for _, t := range s.wild {
		if t.Method == m.Method && recording.Compare(t.value, v, redacted, 1) == nil {
			equal = append(equal, t)
		}
	}
	return equal
}

const (
	maxSearched    = 1000 // messages to compare in the search for the most similar one
	maxDifferences = 10   // reported differences of a message
)

// unknown returns the error for a message that is not in the recording. It names the most similar message and the
// differences.
func (s *session) unknown(m relay.Message, redacted string) *refusal {
	v := compared(m.Method, m.Params)
	var nearest *reaction
	var least []recording.Difference
	searched := 0
	for _, t := range s.reactions {
		if t.Method != m.Method || searched == maxSearched {
			continue
		}
		searched++
		if d := recording.Compare(t.value, v, redacted, maxDifferences); nearest == nil || len(d) < len(least) {
			nearest, least = t, d
		}
	}
	if nearest == nil {
		begins := m.Method == mcp.MethodDiscover || m.Method == mcp.MethodInitialize
		return refuse(mcp.CodeMethodNotFound, !begins, "the recording has no request %s", m.Method)
	}
	var all []string
	for _, d := range least {
		all = append(all, d.String())
	}
	return refuse(mcp.CodeInvalidParams, true,
		"the recording has no such %s; the nearest, entry %d of session %d, differs in %s",
		m.Method, nearest.Seq, nearest.Session, strings.Join(all, "; "))
}
