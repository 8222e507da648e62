package conn

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/mcp"
)

// LegacyEra is the era of the revisions up to 2025-11-25, in which a session begins with initialize.
type LegacyEra struct{}

func (LegacyEra) requestMeta(*Settings, mcp.Version) (*jsonrpc.Constant, error) { return nil, nil }

// ResultType returns "complete". Legacy results have no type, and a member of that name is the server's own data.
func (LegacyEra) ResultType([]byte) (mcp.ResultType, error) { return mcp.ResultComplete, nil }

func (LegacyEra) Serves() bool     { return true }
func (LegacyEra) Asks() bool       { return false }
func (LegacyEra) Subscribes() bool { return false }

// initialize performs the handshake of the legacy era and returns the session. A modern server that was slow to start
// may answer the earlier probe in the meantime; initialize keeps that answer in h.held. (specification 2025-11-25,
// basic/lifecycle)
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

// initializeAnswer waits for the answer to initialize. The answer to an earlier probe may arrive too, or instead: a
// modern server that was slow to start answers the probe, and then refuses or ignores initialize. If the server answers
// both, initializeAnswer uses the answer to initialize, because the server has then accepted that request.
func (h *Handshake) initializeAnswer(ctx context.Context) (*Session, error) {
	if h.in.silent { // until the server process has started, it reads neither the probe nor initialize
		h.clock.hold(true)
		h.in.spoken = func() { h.clock.hold(false) }
		defer func() { h.in.spoken = nil }()
	}
	// The probe has used a quarter of InitTimeout. If initialize uses a half, a quarter is left for the backoff and
	// another attempt.
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

// initialized checks the server's answer to initialize, and sends notifications/initialized.
func (h *Handshake) initialized(ctx context.Context, a *answer) (*Session, error) {
	var r mcp.InitializeResult
	if err := h.decode(a, &r); err != nil {
		return nil, err
	}
	if !slices.Contains(h.c.Settings.Legacy, r.ProtocolVersion) {
		return nil, Refuse(fmt.Errorf("%w: the server answered initialize with %q, but the client supports only %q "+
			"(Options.Versions)",
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

// refusing returns the error for a server that rejects a request of the handshake.
func refusing(method string, err *mcp.Error) error {
	return fmt.Errorf("the server rejected %s: %w", method, err)
}

var ErrNoCommonVersion = errors.New("no protocol version in common")

// alternative returns another legacy version to try after the server rejected the version tried. err is the server's
// error, which may list versions. alternative returns false if the list has no other version that the client supports.
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
