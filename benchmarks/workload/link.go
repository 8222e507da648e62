package workload

import (
	"context"
	"fmt"
	"slices"
)

// Transport is the way from a client to a canned server.
type Transport string

// The transports. The server of Stdio is a process; the other servers are goroutines of this process.
const (
	Stdio    Transport = "stdio"
	Pipe     Transport = "pipe"
	HTTPJSON Transport = "httpjson"
	HTTPSSE  Transport = "httpsse"
)

// Transports lists all transports.
var Transports = []Transport{Stdio, Pipe, HTTPJSON, HTTPSSE}

// Has reports whether the peer supports a transport.
func (p Peer) Has(t Transport) bool {
	switch t {
	case Stdio:
		return p.Stdio != nil
	case Pipe:
		return p.Pipe != nil
	}
	return p.HTTP != nil
}

// Connect connects the peer to a new canned server, which ends with the client. The context holds the number of clients
// and their telemetry.
func (p Peer) Connect(ctx context.Context, t Transport, c Canned) (Client, error) {
	ctx = WithEra(ctx, c.Era)
	if n := clientsOf(ctx); n > 1 {
		return p.connectSeveral(WithClients(WithCallers(ctx, 1), 1), n, t, c)
	}
	client, err := p.connect(ctx, t, c)
	if in := InstallationOf(ctx); err == nil && in != nil && !p.Observes && p.Name != Floor.Name {
		return in.byHand(client)
	}
	return client, err
}

func (p Peer) connect(ctx context.Context, t Transport, c Canned) (Client, error) {
	switch t {
	case Stdio:
		command, env, err := c.Command()
		if err != nil {
			return nil, err
		}
		return p.Stdio(ctx, command, env)
	case Pipe:
		r, w, wait, err := c.Pipe()
		if err != nil {
			return nil, err
		}
		client, err := p.Pipe(ctx, r, w)
		return with(client, err, func() {
			_ = w.Close() // a client closes them, but a failed client may not
			_ = r.Close()
			wait()
		})
	}
	form := JSON
	if t == HTTPSSE {
		form = SSE
	}
	url, stop, err := listenerOf(ctx)(c.Handler(form))
	if err != nil {
		return nil, err
	}
	client, err := p.HTTP(ctx, url)
	return with(client, err, stop)
}

// with returns a client whose Close also ends the server.
func with(c Client, err error, stop func()) (Client, error) {
	if err != nil {
		stop()
		return nil, fmt.Errorf("connect: %w", err)
	}
	return &served{c, stop}, nil
}

type served struct {
	Client
	stop func()
}

func (s *served) Close() error {
	err := s.Client.Close()
	s.stop()
	return err
}

// Right reports whether n is the correct result of the peer's Call or List for a payload.
func (p Peer) Right(payload Payload, n int) bool {
	if payload.Mix != nil {
		return slices.ContainsFunc(payload.Mix, func(one Payload) bool { return p.Right(one, n) })
	}
	if p.Name == Floor.Name {
		return n == payload.Size
	}
	return n == payload.Content+payload.Tools
}
