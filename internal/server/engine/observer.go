package engine

import (
	"context"
	"maps"
	"slices"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/internal/usercode"
	"github.com/mcpotel/mcpotel/mcp"
)

// flush waits until the log handler has accepted all records so far. The log handler may hang, so flush waits for
// [Options.Patience] at most.
func (s *Server) flush(ctx context.Context, all ...rpc.Observer) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.Patience())
	defer cancel()
	for _, o := range all {
		if o.Tel.Flush(ctx) != nil {
			return
		}
	}
}

// everyObserver returns the observers of all networks.
func (s *Server) everyObserver() []rpc.Observer {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Values(s.observers))
}

// Observer returns the observer of a network, and creates it if it is missing.
func (s *Server) Observer(n instrument.Network) rpc.Observer {
	n.Address, n.Port = "", 0 // telemetry does not report the server's own address
	s.mu.Lock()
	defer s.mu.Unlock()
	o, ok := s.observers[n]
	if !ok {
		tel := instrument.NewServer(s.Telemetry, s.Name, n, instrument.WithInstanceID(s.InstanceID))
		o = rpc.Observer{Tel: tel, Network: n, Peers: map[mcp.Version]*instrument.Peer{}}
		for _, v := range s.Versions {
			o.Peers[v] = o.Tel.Peer(instrument.Facts{Network: n, MCPVersion: string(v)}, "")
		}
		s.observers[n] = o
	}
	return o
}

// The server calls user code, such as handlers, stores and connections, through package usercode. If user code fails,
// the request still gets an answer, and the server continues and can be shut down.

// Apart calls f in a new goroutine. The error reports that f panicked or ended the goroutine.
func (s *Server) Apart(ctx context.Context, name string, f func()) error {
	if failure := usercode.Apart(f); failure != nil {
		o := s.Observer(instrument.Network{})
		o.Failed(context.WithoutCancel(ctx), name)(failure)
		return failure
	}
	return nil
}
