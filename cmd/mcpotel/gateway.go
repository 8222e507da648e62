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
	if p.file.path != "" && p.file.only == "" {
		p.adapt = adaptMember
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

// serveMany serves several servers as one.
func (p *proxy) serveMany(ctx context.Context, o *observation, members []mcpclient.Member,
	policy *mcpproxy.Policy) (err error) {
	if p.record.path != "" {
		return misuse("a recording is of one server: which of the %d in %s? --server NAME says it", len(members), p.file.path)
	}
	for i := range members {
		if t, ok := members[i].Transport.(transport.Stdio); ok {
			name := members[i].Name
			t.Stderr = func(line string) { _ = printLine(p.streams.err, visible.Line(name+": "+line)) } // hosts show it
			members[i].Transport = t
		}
	}
	if err := p.chaos.wrapAll(pointers(members)...); err != nil {
		return err
	}
	options := &mcpproxy.GatewayOptions{
		Info: mcp.Implementation{Name: "mcpotel", Version: version()}, Policy: policy, Telemetry: o.telemetry(),
	}
	options.Server.Name = cmp.Or(p.name, gatewayName)
	g, err := mcpproxy.NewGateway(members, options)
	if err != nil {
		return misuse("%s: %s", p.file.path, strings.TrimPrefix(err.Error(), "mcpproxy: "))
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
		defer cancel()
		_ = g.Stop(ctx) // what does not end in time ends with the process
	}()
	return p.serve(ctx, g, g.ServeStdio, "use the servers behind this gateway")
}
