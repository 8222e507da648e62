package dpop

import (
	"net/url"
	"sync"

	"github.com/mcpotel/mcpotel/internal/hostname"
)

const (
	maxOrigins = 256
	maxNonce   = 1024 // bytes
)

// Nonces remembers the latest nonce that each origin gave (RFC 9449 §8.2, §9). The zero value is ready; its methods may
// be called from any goroutine.
type Nonces struct {
	mu     sync.Mutex
	latest map[string]string // by origin; guarded by mu
}

// For returns the nonce for a request to u, empty if its origin gave none.
func (n *Nonces) For(u *url.URL) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.latest[hostname.Origin(u)]
}

// Note takes the header DPoP-Nonce of any response to a request to u. An empty one changes nothing, and neither does
// one that is too long to be sent back.
func (n *Nonces) Note(u *url.URL, nonce string) {
	if nonce == "" || len(nonce) > maxNonce {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.latest == nil {
		n.latest = map[string]string{}
	}
	o := hostname.Origin(u)
	if _, known := n.latest[o]; !known && len(n.latest) >= maxOrigins {
		n.forgetOne()
	}
	n.latest[o] = nonce
}

// forgetOne costs the origin it hits one more round trip.
func (n *Nonces) forgetOne() {
	for o := range n.latest {
		delete(n.latest, o)
		return
	}
}
