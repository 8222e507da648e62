package mcpserver

import (
	"context"
	"encoding/json"

	"github.com/mcpotel/mcpotel/internal/given"
	"github.com/mcpotel/mcpotel/mcp"
)

// ListRoots asks the client for its roots: the places in the file system where the server may work. ListRoots is like
// [RequestInfo.AskAll] with a single question. (specification 2026-07-28, client/roots, which deprecates roots)
func (r *RequestInfo) ListRoots(ctx context.Context) ([]*mcp.Root, error) {
	var result mcp.ListRootsResult
	if err := r.AskAll(ctx, AskListRoots("", &result)); err != nil {
		return nil, err
	}
	return result.Roots, nil
}

// AskListRoots returns an [Ask] with the question of [RequestInfo.ListRoots]. The server stores the answer in
// result, unless result is nil.
func AskListRoots(key string, result *mcp.ListRootsResult) *Ask {
	return &Ask{key, &rootsQuestion{result}}
}

type rootsQuestion struct{ result *mcp.ListRootsResult }

func (*rootsQuestion) Method() string { return mcp.MethodListRoots }

func (*rootsQuestion) check() error { return nil }

func (*rootsQuestion) missing(_ mcp.Version, declared, need *mcp.ClientCapabilities) bool {
	if declared.Roots != nil {
		return false
	}
	need.Roots = &mcp.RootsCapability{}
	return true
}

func (*rootsQuestion) params(mcp.Version, *mcp.ClientCapabilities) (any, error) { return nil, nil }

func (q *rootsQuestion) Take(_ context.Context, answer json.RawMessage) error {
	return takeInto(answer, q.result)
}

// takeInto decodes a copy of an answer, and stores it unless result is nil.
func takeInto[T any](answer json.RawMessage, result *T) error {
	var taken T
	if err := given.Decode(answer, &taken); err != nil {
		return err
	}
	if result != nil {
		*result = taken
	}
	return nil
}
