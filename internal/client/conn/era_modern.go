package conn

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/mcp"
)

// ModernEra is the era of 2026-07-28 and later. It has no handshake: every request carries the client's identity and
// version.
type ModernEra struct{}

func (ModernEra) requestMeta(cfg *Settings, v mcp.Version) (*jsonrpc.Constant, error) {
	object, err := json.Marshal(map[string]any{
		mcp.MetaProtocolVersion:    v,
		mcp.MetaClientInfo:         cfg.ClientInfo,
		mcp.MetaClientCapabilities: DeclaredIn(v, cfg.Capabilities),
	})
	if err != nil {
		return nil, err
	}
	if last := usualMeta.Load(); last != nil && bytes.Equal(last.object, object) {
		return last.Constant, nil
	}
	meta, err := jsonrpc.NewConstant(object)
	if err == nil {
		usualMeta.Store(&knownMeta{object, meta})
	}
	return meta, err
}

// usualMeta caches the latest result of requestMeta, because nearly all clients of a program have the same identity.
var usualMeta atomic.Pointer[knownMeta]

type knownMeta struct {
	object []byte
	*jsonrpc.Constant
}

// ResultType reads the member resultType. The type must be known before the content is decoded in place. Reading is
// cheap if the server writes this member first. If large content comes first, reading takes one pass, which also
// validates that content.
func (ModernEra) ResultType(result []byte) (mcp.ResultType, error) { return mcp.ResultTypeOf(result) }

func (ModernEra) Serves() bool     { return false }
func (ModernEra) Asks() bool       { return true }
func (ModernEra) Subscribes() bool { return true }

// probe asks the server for its versions. If the server supports a modern version, probe returns the session. It
// returns errLegacy if the answer indicates a legacy server, or if silence suggests one. If the server refuses the
// version of the probe and names other modern versions, probe asks once more. (specification 2026-07-28,
// basic/versioning, "Protocol Version Negotiation"; basic/transports/stdio, "Backward Compatibility")
func (h *Handshake) probe(ctx context.Context) (*Session, error) {
	version := h.c.Settings.Modern[0]
	for again := false; ; again = true {
		a, err := h.discover(ctx, version)
		switch {
		case err != nil:
			return nil, err
		case a.failed != nil && a.failed.suggestsLegacy() && len(h.c.Settings.Legacy) > 0:
			h.guessed = !a.failed.refused()
			return nil, errLegacy
		case a.failed != nil:
			return nil, a.failed
		case a.err == nil:
			return h.discovered(&a)
		}
		offered, err := h.refusedProbe(a.err, version)
		if err != nil || again {
			return nil, cmp.Or(err, refusing(mcp.MethodDiscover, a.err))
		}
		version = offered
	}
}

// discover sends the probe and returns the answer.
func (h *Handshake) discover(ctx context.Context, version mcp.Version) (answer, error) {
	meta, err := ModernEra{}.requestMeta(h.c.Settings, version)
	if err != nil {
		return answer{}, err
	}
	if err := h.send(ctx, mcp.MethodDiscover, version, mcp.Params{}, meta); err != nil {
		return answer{}, err
	}
	return h.await(ctx)
}

// refusedProbe handles the error err that the server returned for the first probe. probed is the version of that probe.
// refusedProbe returns the version for a second probe, or an error. It returns probed only if the server lists no other
// usable version.
func (h *Handshake) refusedProbe(err *mcp.Error, probed mcp.Version) (mcp.Version, error) {
	switch err.Code {
	case mcp.CodeMethodNotFound:
		return "", errLegacy
	case mcp.CodeUnsupportedVersion:
		supported := supportedVersions(err)
		if len(supported) == 0 {
			break
		}
		others := slices.DeleteFunc(slices.Clone(supported), func(v mcp.Version) bool { return v == probed })
		if v, none := h.choose(others); !errors.Is(none, ErrNoCommonVersion) {
			return v, none
		}
		return h.choose(supported)
	case mcp.CodeHeaderMismatch, mcp.CodeMissingClientCapability:
		return "", refusing(mcp.MethodDiscover, err) // a modern server with another complaint
	case mcp.CodeInternalError:
		if len(h.c.Settings.Legacy) == 0 { // no fallback; a proxy answers with this error while its server is away
			return "", refusing(mcp.MethodDiscover, err)
		}
	}
	h.c.note(h.link, refusing(mcp.MethodDiscover,
		&mcp.Error{Code: err.Code, Message: Excerpt(err.Message, MaxShown)}))
	return "", errLegacy
}

// supportedVersions returns the versions that a server's error lists, or nil. Legacy servers use another error code
// with the same data.
func supportedVersions(err *mcp.Error) []mcp.Version {
	var data mcp.UnsupportedVersionData
	if json.Unmarshal(err.Data, &data) != nil {
		return nil
	}
	return data.Supported
}

var errLegacy = errors.New("the server does not support 2026-07-28 or later")

// choose returns the newest modern version that both sides support. If they have only legacy versions in common, it
// returns errLegacy. If they have none, it returns a refusal.
func (h *Handshake) choose(supported []mcp.Version) (mcp.Version, error) {
	for _, v := range h.c.Settings.Modern {
		if slices.Contains(supported, v) {
			return v, nil
		}
	}
	for _, v := range h.c.Settings.Legacy {
		if slices.Contains(supported, v) {
			return "", errLegacy
		}
	}
	return "", Refuse(fmt.Errorf("%w: the server supports %q, but the client supports %q (Options.Versions)",
		ErrNoCommonVersion, excerpts(supported), slices.Concat(h.c.Settings.Modern, h.c.Settings.Legacy)))
}

// discovered makes a session from the answer to the probe. It returns errLegacy if the answer names no modern version
// of the client: some legacy servers answer every method with success, or list their versions although they need
// initialize.
func (h *Handshake) discovered(a *answer) (*Session, error) {
	var r mcp.DiscoverResult
	if err := h.decode(a, &r); err != nil {
		if errors.As(err, new(*introductionError)) {
			return nil, err
		}
		return nil, errLegacy
	}
	if len(r.SupportedVersions) == 0 {
		h.c.note(h.link, errors.New("the server's answer to server/discover lists no supported version"))
		return nil, errLegacy
	}
	v, err := h.choose(r.SupportedVersions)
	if err != nil {
		return nil, err
	}
	return h.modernSession(v, &r)
}

func (h *Handshake) modernSession(v mcp.Version, r *mcp.DiscoverResult) (*Session, error) {
	var server mcp.Implementation
	if _, err := r.Meta.Decode(mcp.MetaServerInfo, &server); err != nil {
		server = mcp.Implementation{} // only for display
	}
	h.c.DropIcons(mcp.MethodDiscover, &server)
	return h.c.newSession(Session{
		Link: h.link, Version: v,
		Said: &Said{Server: server, Capabilities: r.Capabilities, Instructions: r.Instructions},
	})
}
