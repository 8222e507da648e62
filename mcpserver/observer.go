package mcpserver

import (
	"context"
	"maps"
	"slices"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/mcp"
)

// observer is what connections over one kind of network tell their telemetry. It is immutable.
type observer struct {
	tel     *instrument.Server
	network instrument.Network
	peers   map[mcp.Version]*instrument.Peer
}

// flush waits until the log handler has taken what was told so far. It may hang, so it is not waited for longer than
// for handlers.
func (s *Server) flush(ctx context.Context, all ...observer) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.cfg.patience())
	defer cancel()
	for _, o := range all {
		if o.tel.Flush(ctx) != nil {
			return
		}
	}
}

// everyObserver returns those there are.
func (s *Server) everyObserver() []observer {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Values(s.observers))
}

// observer returns the one for a network.
func (s *Server) observer(n instrument.Network) observer {
	n.Address, n.Port = "", 0 // a server tells nothing about its own
	s.mu.Lock()
	defer s.mu.Unlock()
	o, ok := s.observers[n]
	if !ok {
		tel := instrument.NewServer(s.cfg.Telemetry, s.cfg.Name, n, instrument.WithInstanceID(s.cfg.InstanceID))
		o = observer{tel: tel, network: n, peers: map[mcp.Version]*instrument.Peer{}}
		for _, v := range s.cfg.versions {
			o.peers[v] = o.tel.Peer(instrument.Facts{Network: n, MCPVersion: string(v)}, "")
		}
		s.observers[n] = o
	}
	return o
}
