package mcpserver

import (
	"context"
	"maps"
	"slices"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/internal/usercode"
	"github.com/mcpotel/mcpotel/mcp"
)

// flush waits until the log handler has taken what was told so far. It may hang, so it is not waited for longer than
// for handlers.
func (s *Server) flush(ctx context.Context, all ...rpc.Observer) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.cfg.patience())
	defer cancel()
	for _, o := range all {
		if o.Tel.Flush(ctx) != nil {
			return
		}
	}
}

// everyObserver returns those there are.
func (s *Server) everyObserver() []rpc.Observer {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Values(s.observers))
}

// observer returns the one for a network.
func (s *Server) observer(n instrument.Network) rpc.Observer {
	n.Address, n.Port = "", 0 // a server tells nothing about its own
	s.mu.Lock()
	defer s.mu.Unlock()
	o, ok := s.observers[n]
	if !ok {
		tel := instrument.NewServer(s.cfg.Telemetry, s.cfg.Name, n, instrument.WithInstanceID(s.cfg.InstanceID))
		o = rpc.Observer{Tel: tel, Network: n, Peers: map[mcp.Version]*instrument.Peer{}}
		for _, v := range s.cfg.versions {
			o.Peers[v] = o.Tel.Peer(instrument.Facts{Network: n, MCPVersion: string(v)}, "")
		}
		s.observers[n] = o
	}
	return o
}

// The server calls code of the user's as package usercode has it: handlers, stores, connections. Whatever that does,
// the request gets its answer, and the server goes on and can be shut down.

// apart calls f in a goroutine of its own. The error is a failure of that code.
func (s *Server) apart(ctx context.Context, name string, f func()) error {
	if failure := usercode.Apart(f); failure != nil {
		o := s.observer(instrument.Network{})
		o.Failed(context.WithoutCancel(ctx), name)(failure)
		return failure
	}
	return nil
}
