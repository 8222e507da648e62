package mcpclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/mcp"
)

// modernEra is that of 2026-07-28 and later: no handshake, every request says who asks and in which version.
type modernEra struct{}

func (modernEra) requestMeta(cfg *config, v mcp.Version) (*jsonrpc.Constant, error) {
	object, err := json.Marshal(map[string]any{
		mcp.MetaProtocolVersion:    v,
		mcp.MetaClientInfo:         cfg.ClientInfo,
		mcp.MetaClientCapabilities: cfg.Capabilities,
	})
	if err != nil {
		return nil, err
	}
	return jsonrpc.NewConstant(object)
}

// checkResult refuses what the client has not negotiated. (specification 2026-07-28, basic, "ResultType")
func (modernEra) checkResult(t mcp.ResultType) error {
	switch t {
	case mcp.ResultComplete, "":
		return nil
	}
	return fmt.Errorf("result type %q was not negotiated", t)
}

func (modernEra) serves() bool { return false }

// probe asks the server what it speaks. It returns the session if that is a modern version, and errLegacy if the answer
// shows, or silence suggests, a legacy server.
// (specification 2026-07-28, basic/transports/stdio, "Backward Compatibility")
func (h *handshake) probe(ctx context.Context) (*session, error) {
	version := h.c.cfg.modern[0]
	meta, err := modernEra{}.requestMeta(&h.c.cfg, version)
	if err != nil {
		return nil, err
	}
	if err := h.send(ctx, mcp.MethodDiscover, version, mcp.Params{}, meta); err != nil {
		return nil, err
	}
	a, err := h.await(ctx)
	switch {
	case err != nil:
		return nil, err
	case a.failed != nil && a.failed.suggestsLegacy() && len(h.c.cfg.legacy) > 0:
		return nil, errLegacy
	case a.failed != nil:
		return nil, a.failed
	case a.err == nil:
		return h.discovered(a)
	}
	return nil, h.refusedProbe(a.err)
}

// refusedProbe tells what an error answer to the probe means.
func (h *handshake) refusedProbe(err *mcp.Error) error {
	switch err.Code {
	case mcp.CodeUnsupportedVersion:
		if supported := supportedVersions(err); len(supported) > 0 {
			return h.choose(supported)
		}
	case mcp.CodeHeaderMismatch, mcp.CodeMissingClientCapability:
		return err // a modern server, with another complaint
	}
	return errLegacy
}

// supportedVersions returns the versions that a server names when it refuses one, none if it names none. Servers of the
// legacy era do it with another code and in the same form.
func supportedVersions(err *mcp.Error) []mcp.Version {
	var data mcp.UnsupportedVersionData
	if json.Unmarshal(err.Data, &data) != nil {
		return nil
	}
	return data.Supported
}

var errLegacy = errors.New("the server is of the legacy era")

// choose returns errLegacy if the server's versions have none in common with the client's but a legacy one, and a
// refusal if they have none at all. A common modern one other than the one asked for means the server contradicts itself.
func (h *handshake) choose(supported []mcp.Version) error {
	for _, v := range h.c.cfg.legacy {
		if slices.Contains(supported, v) {
			return errLegacy
		}
	}
	return refuse(fmt.Errorf("%w: the server speaks %q, the client %q", errNoCommonVersion, supported,
		slices.Concat(h.c.cfg.modern, h.c.cfg.legacy)))
}

// discovered makes a session of the answer to the probe. A result without a modern version that the client speaks is
// what legacy servers give that answer any method with success, or list their versions although they need initialize.
func (h *handshake) discovered(a answer) (*session, error) {
	var r mcp.DiscoverResult
	if err := h.decode(a, &r); err != nil {
		return nil, errLegacy
	}
	for _, v := range h.c.cfg.modern {
		if slices.Contains(r.SupportedVersions, v) {
			return h.modernSession(v, &r)
		}
	}
	if len(r.SupportedVersions) == 0 {
		return nil, errLegacy
	}
	return nil, h.choose(r.SupportedVersions)
}

func (h *handshake) modernSession(v mcp.Version, r *mcp.DiscoverResult) (*session, error) {
	var server mcp.Implementation
	if _, err := r.Meta.Decode(mcp.MetaServerInfo, &server); err != nil {
		server = mcp.Implementation{} // it is for display only
	}
	return h.c.newSession(session{
		link: h.link, version: v, server: server, capabilities: r.Capabilities, instructions: r.Instructions,
	})
}
