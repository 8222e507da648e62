package dpop

import (
	"net/url"
	"sync"

	"github.com/mcpotel/mcpotel/internal/hostname"
)

const (
	maxOrigins = 256
	maxNonce   = 1024 // maximum size of a nonce, in bytes
)

// Nonces stores the latest nonce of each origin (RFC 9449 §8.2, §9), for at most 256 origins. The zero value is ready
// for use. Its methods may be called from any goroutine.
type Nonces struct {
	mu     sync.Mutex
	latest map[string]string // latest nonce by origin; guarded by mu
}

// For returns the nonce for a request to u, or the empty string if its origin has sent none.
func (n *Nonces) For(u *url.URL) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.latest[hostname.Origin(u)]
}

// Note stores the DPoP-Nonce header of a response to a request to u. It ignores an empty nonce and a nonce of more
// than 1024 bytes.
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
		n.evictOne()
	}
	n.latest[o] = nonce
}

// evictOne removes an arbitrary origin. The next request to that origin costs one more round trip.
func (n *Nonces) evictOne() {
	for o := range n.latest {
		delete(n.latest, o)
		return
	}
}
