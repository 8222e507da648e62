package main

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/mcpotel/mcpotel/internal/visible"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpproxy"
)

// gatewayName is the name of a gateway in telemetry if --name is not given.
const gatewayName = "gateway"

// servers returns all servers of a file, or else the selected server.
func (p *proxy) servers(o *observation) (members []mcpclient.Member, free func(), _ error) {
	many := p.file.path != "" && p.file.only == ""
	if many || p.translate {
		p.adapt = adaptMember
	}
	if many {
		return p.members(o)
	}
	m, free, err := p.member(o)
	return []mcpclient.Member{m}, free, err
}

// adaptMember sets the options for a member behind a gateway: the hosts set timeouts and answer the server's requests.
func adaptMember(_ string, o *mcpclient.Options) {
	o.Features, o.RequestTimeout, o.Backoff.Attempts = nil, -1, -1
	o.Limits.Frame, o.Timeouts.Close = mcpproxy.DefaultFrameLimit, time.Second
}

// serveMany serves a gateway: several servers as one, or one server without prefixes (--translate).
func (p *proxy) serveMany(ctx context.Context, o *observation, members []mcpclient.Member,
	policy *mcpproxy.Policy) (err error) {
	if err := p.checkMany(members); err != nil {
		return err
	}
	options := &mcpproxy.GatewayOptions{
		Info: mcp.Implementation{Name: "mcpotel", Version: version()}, Policy: policy, Telemetry: o.telemetry(),
		NoPrefix: p.translate,
	}
	options.Server.Name = cmp.Or(p.name, gatewayName)
	risk := "use the servers behind this gateway"
	if p.translate {
		m := &members[0]
		m.Name = cmp.Or(p.name, m.Options.Name, m.Transport.Name()) // the same name in telemetry as without --translate
		options.Server.Name, risk = m.Name, proxyRisk
		options.Patience = 30 * time.Second // the host has no other server to use while it waits
	}
	for i := range members {
		if m := &members[i]; m.Lazy || m.Idle > 0 {
			m.Options.Backoff.Attempts = 0 // a call that has started a server fails if the server cannot start
		}
		prefix := members[i].Name + ": "
		if p.translate {
			prefix = ""
		}
		if err := p.connectTo(&members[i], prefix); err != nil {
			return err
		}
	}
	g, err := mcpproxy.NewGateway(members, options)
	if err != nil {
		said := strings.TrimPrefix(err.Error(), "mcpproxy: ")
		if p.file.path != "" {
			said = p.file.path + ": " + said
		}
		return misuse("%s", said)
	}
	defer func() { _ = g.Close() }()
	return p.serve(ctx, g, risk)
}

// checkMany returns an error for flags that a gateway of these servers does not support.
func (p *proxy) checkMany(members []mcpclient.Member) error {
	switch {
	case p.translate && len(members) > 1:
		return misuse("--translate needs one server, and %s has %d; a gateway of several servers translates by default. "+
			"Select one with --server NAME", p.file.path, len(members))
	case p.translate && p.record.path != "":
		return misuse("--record does not work with --translate: it records messages unchanged")
	case p.record.path != "":
		return misuse("--record needs one server, and %s has %d: select one with --server NAME", p.file.path, len(members))
	}
	return nil
}

// connectTo prepares the transport to a server: it forwards the server's standard error to the host with this prefix,
// and injects the faults of --chaos.
func (p *proxy) connectTo(m *mcpclient.Member, prefix string) (err error) {
	if t, ok := m.Transport.(transport.Stdio); ok {
		t.Stderr = func(line string) { // hosts show these lines
			if p.redact != nil {
				line = p.redact(line)
			}
			_ = printLine(p.streams.err, visible.Line(prefix+line))
		}
		m.Transport = t
	}
	m.Transport, err = p.chaos.wrap(m.Transport)
	return err
}
