package introduction

import (
	"sync"

	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/mcp"
)

// Cache remembers the name and version of modern clients, which send the same clientInfo with each request. It is safe
// for concurrent use.
type Cache struct {
	mu  sync.RWMutex
	all map[string]client // guarded by mu; keys are the JSON texts of clientInfo
}

// client is the name and the version of a client.
type client struct{ name, version string }

// Limits of the cache. A clientInfo beyond them is decoded for each request.
const (
	maxIntroductions   = 256
	maxRememberedBytes = 1024 // size of one clientInfo
)

// Read returns the name and the version in clientInfo, which is a JSON object or nil. A name or version that is not a
// string is returned as empty.
func (r *Cache) Read(clientInfo []byte) (name, version string) {
	if len(clientInfo) == 0 {
		return "", ""
	}
	r.mu.RLock()
	known, ok := r.all[string(clientInfo)]
	full := len(r.all) >= maxIntroductions
	r.mu.RUnlock()
	if ok {
		return known.name, known.version
	}
	known = introducedBy(clientInfo)
	if full || len(clientInfo) > maxRememberedBytes {
		return known.name, known.version
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.all) < maxIntroductions {
		if r.all == nil {
			r.all = map[string]client{}
		}
		r.all[string(clientInfo)] = known
	}
	return known.name, known.version
}

func introducedBy(clientInfo []byte) (by client) {
	for name, raw := range mcp.Object(clientInfo).All() {
		switch name {
		case "name":
			by.name, _ = jsonrpc.Text(raw)
		case "version":
			by.version, _ = jsonrpc.Text(raw)
		}
	}
	return by
}
