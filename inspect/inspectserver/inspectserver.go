package inspectserver

import (
	"github.com/mcpotel/mcpotel/inspect"
	"github.com/mcpotel/mcpotel/internal/inspector"
	"github.com/mcpotel/mcpotel/internal/running"
	"github.com/mcpotel/mcpotel/mcpserver"
)

// A Client can be inspected: a *mcpclient.Client.
type Client interface{ Inspect() inspect.Client }

// A Server can be inspected: a *mcpserver.Server.
type Server interface{ Inspect() inspect.Server }

// Options configure the server. The zero value of every field means the default.
type Options struct {
	// Clients are the clients to describe, including ended ones. Nil means all that run in the process; an empty list
	// means none.
	Clients []Client

	// Servers are the servers to describe. Nil means all that run in the process; an empty list means none.
	Servers []Server

	// Version is the version of this server. Empty means "1".
	Version string

	// Server configures the server itself. Nil means the defaults, without telemetry.
	Server *mcpserver.Options
}

// New returns the server, which is safe for concurrent use. o may be nil. New returns an error if Options.Server is
// invalid.
func New(o *Options) (*mcpserver.Server, error) {
	if o == nil {
		o = &Options{}
	}
	running.Watch()
	version := o.Version
	if version == "" {
		version = "1"
	}
	var p inspector.Process
	if o.Clients != nil {
		p.Clients = func() (all []running.Client) {
			for _, c := range o.Clients {
				all = append(all, c)
			}
			return all
		}
	}
	if o.Servers != nil {
		p.Servers = func() (all []running.Server) {
			for _, s := range o.Servers {
				all = append(all, s)
			}
			return all
		}
	}
	return inspector.New(inspector.Sources{Peers: []inspector.Source{p}}, version, o.Server)
}
