package conn

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/mcp"
)

// LegacyEra is that of the revisions up to 2025-11-25: a session begins with initialize.
type LegacyEra struct{}

func (LegacyEra) requestMeta(*Settings, mcp.Version) (*jsonrpc.Constant, error) { return nil, nil }

// ResultType takes all for complete: legacy results have no type, and a member of that name is the server's own.
func (LegacyEra) ResultType([]byte) (mcp.ResultType, error) { return mcp.ResultComplete, nil }

func (LegacyEra) Serves() bool     { return true }
func (LegacyEra) Asks() bool       { return false }
func (LegacyEra) Subscribes() bool { return false }

// initialize performs the handshake of the legacy era and returns the session. A discover result that arrives
// meanwhile, from a modern server that was slow to start, is kept in h.held.
// (specification 2025-11-25, basic/lifecycle)
func (h *Handshake) initialize(ctx context.Context, version mcp.Version) (*Session, error) {
	err := h.send(ctx, mcp.MethodInitialize, "", mcp.InitializeParams{
		ProtocolVersion: version,
		Capabilities:    DeclaredIn(version, h.c.Settings.Capabilities),
		ClientInfo:      h.c.Settings.ClientInfo.In(version),
	}, nil)
	if err != nil {
		return nil, err
	}
	return h.initializeAnswer(ctx)
}

// initializeAnswer waits for the answer to initialize. The answer to a probe that is still out may come as well, or
// instead: a modern server that was slow to start answers the probe and then refuses initialize, or says nothing to it.
// A session by initialize is preferred, because the server has served it by now.
func (h *Handshake) initializeAnswer(ctx context.Context) (*Session, error) {
	if h.in.silent { // it has been asked by the probe and by initialize, and reads neither before it has started
		h.clock.hold(true)
		h.in.spoken = func() { h.clock.hold(false) }
		defer func() { h.in.spoken = nil }()
	}
	// After the quarter of the probe this leaves another for the backoff and an attempt that a server answers at once.
	patience, done := h.clock.within(ctx, h.c.Settings.InitTimeout/2)
	defer done()
	var refused error
	for wait := patience; ; {
		a, err := h.await(wait)
		switch {
		case err != nil && ctx.Err() == nil && wait.Err() != nil && refused == nil:
			wait = ctx
		case err != nil && refused != nil:
			return nil, refused
		case err != nil:
			return nil, err
		case a.method == mcp.MethodDiscover:
			h.keepDiscovered(a)
		case a.failed != nil:
			refused = a.failed
		case a.err != nil:
			refused = refusing(mcp.MethodInitialize, a.err)
		default:
			return h.initialized(ctx, &a)
		}
		if h.held != nil && (refused != nil || wait == ctx) {
			return h.held, nil
		}
		if refused != nil && len(h.waiting) == 0 {
			return nil, refused
		}
	}
}

// initialized checks the server's answer to initialize and tells it that the session begins.
func (h *Handshake) initialized(ctx context.Context, a *answer) (*Session, error) {
	var r mcp.InitializeResult
	if err := h.decode(a, &r); err != nil {
		return nil, err
	}
	if !slices.Contains(h.c.Settings.Legacy, r.ProtocolVersion) {
		return nil, Refuse(fmt.Errorf("%w: the server answers initialize with %q, the client speaks %q (Options.Versions)",
			ErrNoCommonVersion, Excerpt(string(r.ProtocolVersion), MaxShown), h.c.Settings.Legacy))
	}
	s, err := h.c.newSession(Session{
		Link: h.link, Version: r.ProtocolVersion, guessed: h.guessed,
		Said: &Said{Server: r.ServerInfo, Capabilities: r.Capabilities, Instructions: r.Instructions},
	})
	if err != nil {
		return nil, err
	}
	return s, h.notify(ctx, s, mcp.NotificationInitialized)
}

// refusing is what the server says to a request without which there is no connection.
func refusing(method string, err *mcp.Error) error {
	return fmt.Errorf("the server refuses %s: %w", method, err)
}

var ErrNoCommonVersion = errors.New("no protocol version in common")

// alternative returns the legacy version to try after the server refused one with err, from the list that servers of
// several revisions send along; false if it names none that the client speaks and has not tried.
func (h *Handshake) alternative(err error, tried mcp.Version) (mcp.Version, bool) {
	serverErr, ok := errors.AsType[*mcp.Error](err)
	if !ok {
		return "", false
	}
	supported := supportedVersions(serverErr)
	for _, v := range h.c.Settings.Legacy {
		if v != tried && slices.Contains(supported, v) {
			return v, true
		}
	}
	return "", false
}
