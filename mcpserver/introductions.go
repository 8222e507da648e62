package mcpserver

import (
	"sync"

	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/mcp"
)

// introductions remember what modern clients call themselves, which they say in every request, in the same words. It is
// safe for concurrent use.
type introductions struct {
	mu  sync.RWMutex
	all map[string]introduced // by clientInfo, as it came; guarded by mu
}

// introduced is the name of a client and the version of it.
type introduced struct{ name, version string }

// What is remembered. A clientInfo beyond that is read each time.
const (
	maxIntroductions   = 256
	maxRememberedBytes = 1024 // of one
)

// read returns what clientInfo, a JSON object or nil, says. What is no string is empty.
func (r *introductions) read(clientInfo []byte) (name, version string) {
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
			r.all = map[string]introduced{}
		}
		r.all[string(clientInfo)] = known
	}
	return known.name, known.version
}

func introducedBy(clientInfo []byte) (by introduced) {
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
