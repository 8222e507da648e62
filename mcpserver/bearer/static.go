package bearer

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"
	"net/http"
)

// Static returns a [Verifier] for a fixed set of tokens, for example from the environment of a small deployment. The
// audiences of each principal must include [Options.Resource]. Static stores hashes of the tokens, and compares a
// token with all hashes in constant time. It panics if a token is empty, or if a principal is nil or has neither
// Subject nor ClientID.
func Static(tokens map[string]*Principal) Verifier {
	s := make(static, 0, len(tokens))
	for token, p := range tokens {
		if token == "" || p == nil {
			panic("bearer: Static with an empty token or a nil principal")
		}
		if p.anonymous() {
			panic("bearer: Static with a principal without Subject and ClientID")
		}
		s = append(s, known{sha256.Sum256([]byte(token)), p})
	}
	return s
}

type static []known

type known struct {
	hash      [sha256.Size]byte
	principal *Principal
}

func (s static) Verify(_ context.Context, token string, _ *http.Request) (*Principal, error) {
	hash := sha256.Sum256([]byte(token))
	var found *Principal
	for _, k := range s {
		if subtle.ConstantTimeCompare(hash[:], k.hash[:]) == 1 {
			found = k.principal
		}
	}
	if found == nil {
		return nil, fmt.Errorf("%w: it is unknown", ErrInvalidToken)
	}
	return found, nil
}
