package mcpserver

import (
	"errors"
	"fmt"

	"github.com/mcpotel/mcpotel/internal/given"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
	"github.com/mcpotel/mcpotel/internal/usercode"
	"github.com/mcpotel/mcpotel/mcp"
)

// view encodes results for one client.
type view struct {
	s         *Server
	version   mcp.Version
	principal string // principal of the request; empty if unknown
}

func (w view) modern() bool { return w.version.Era() == mcp.Modern }

// ownResult is a result that encodes itself.
type ownResult interface {
	appendResult(dst []byte, w view) ([]byte, error)
}

// appendAnswer appends the frame that answers a request, and returns the error in the frame. If the result cannot be
// encoded, the answer is an internal error.
func (s *Server) appendAnswer(dst []byte, r *RequestInfo, result any, err error) ([]byte, error) {
	if missing, ok := errors.AsType[*notFoundError](err); ok {
		err = missing.in(r.Version)
	}
	if err != nil {
		err = allowed(r.Version, err)
		return rpc.AppendError(dst, r.ID, rpc.WireError(err)), err
	}
	n := len(dst)
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	dst = r.ID.AppendJSON(dst)
	dst = append(dst, `,"result":`...)
	if dst, err = (view{s, r.Version, r.Principal()}).encode(dst, result); err != nil {
		err = rpc.Fail(rpc.ErrInternal, fmt.Errorf("encode the result of %s: %w", r.Method, err))
		return rpc.AppendError(dst[:n], r.ID, rpc.ErrInternal), err
	}
	return append(dst, '}'), nil
}

// encode calls append. It converts a panic to an error, for example for a content block that is a nil pointer.
func (w view) encode(dst []byte, result any) (encoded []byte, err error) {
	usercode.Run(func() { encoded, err = w.append(dst, result) }, func(f *usercode.Failure) {
		encoded, err = dst, fmt.Errorf("panic: %v", f.Value)
	})
	return encoded, err
}

// append appends a result in the form of the client's revision.
func (w view) append(dst []byte, result any) ([]byte, error) {
	if err := given.Check(result); err != nil {
		return dst, err
	}
	switch r := result.(type) {
	case *mcp.CallToolResult:
		return w.appendToolResult(dst, r)
	case *mcp.ReadResourceResult:
		return mcp.AppendResult(dst, w.readResult(r))
	case *mcp.GetPromptResult:
		return mcp.AppendResult(dst, w.promptResult(r))
	case *mcp.CompleteResult:
		return mcp.AppendResult(dst, w.completeResult(r))
	case ownResult:
		return r.appendResult(dst, w)
	}
	if !w.modern() {
		whole, err := mcp.AppendResult(dst, result)
		if err == nil {
			err = given.CheckEncoded(result, whole[len(dst):])
		}
		return whole, err
	}
	raw, err := mcp.AppendResult(nil, result)
	if err == nil {
		err = given.CheckEncoded(result, raw)
	}
	if err != nil {
		return dst, err
	}
	return w.s.signature.append(dst, raw)
}
