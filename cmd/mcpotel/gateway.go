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

// gatewayName is what telemetry calls a gateway that --name has not named.
const gatewayName = "gateway"

// servers returns all servers of a file, or the one that there is otherwise.
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

// adaptMember gives the client of a server the options of one that hosts use: they decide how long a call may take, and
// answer what the server asks.
func adaptMember(_ string, o *mcpclient.Options) {
	o.Features, o.RequestTimeout, o.InitialAttempts = nil, -1, -1
	o.FrameLimit, o.CloseTimeout = mcpproxy.DefaultFrameLimit, time.Second
}

// serveMany serves several servers as one, or one whose names stay as they are.
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
		m.Name = cmp.Or(p.name, m.Options.Name, m.Transport.Name()) // as telemetry calls it without --translate
		options.Server.Name, risk = m.Name, proxyRisk
		options.Patience = 30 * time.Second // there is no other server that a host could use meanwhile
	}
	for i := range members {
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
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
		defer cancel()
		_ = g.Stop(ctx) // what does not end in time ends with the process
	}()
	return p.serve(ctx, g, g.ServeStdio, risk)
}

// checkMany says what a gateway of these servers cannot do.
func (p *proxy) checkMany(members []mcpclient.Member) error {
	switch {
	case p.translate && len(members) > 1:
		return misuse("--translate is for one server, and several are translated anyway: which of the %d in %s? "+
			"--server NAME says it", len(members), p.file.path)
	case p.translate && p.record.path != "":
		return misuse("--record keeps what passes as it is: it does not go together with --translate")
	case p.record.path != "":
		return misuse("a recording is of one server: which of the %d in %s? --server NAME says it", len(members), p.file.path)
	}
	return nil
}

// connectTo prepares the way to a server: what it says on standard error is for the host, behind this prefix, and a
// plan may break it.
func (p *proxy) connectTo(m *mcpclient.Member, prefix string) (err error) {
	if t, ok := m.Transport.(transport.Stdio); ok {
		t.Stderr = func(line string) { // hosts show it
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
