package mcpserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/mcpotel/mcpotel/internal/given"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/internal/jsonscan"
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
		return rpc.AppendError(dst, jsonrpc.ID(r.ID), rpc.WireError(err)), err
	}
	n := len(dst)
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	dst = jsonrpc.ID(r.ID).AppendJSON(dst)
	dst = append(dst, `,"result":`...)
	if dst, err = (view{s, r.Version, r.Principal()}).encode(dst, result); err != nil {
		err = rpc.Fail(rpc.ErrInternal, fmt.Errorf("encode the result of %s: %w", r.Method, err))
		return rpc.AppendError(dst[:n], jsonrpc.ID(r.ID), rpc.ErrInternal), err
	}
	return append(dst, '}'), nil
}

// encode calls append. If append panics, for example because of a nil content block, encode returns an error.
func (w view) encode(dst []byte, result any) (encoded []byte, err error) {
	usercode.Run(func() { encoded, err = w.append(dst, result) }, func(f *usercode.Failure) {
		encoded, err = dst, fmt.Errorf("panic: %v", f.Value)
	})
	return encoded, err
}

// append appends a result, encoded for the client's revision.
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

// signature identifies the server in every modern result. It is immutable.
// (specification 2026-07-28, basic/index, "Per-response protocol fields")
type signature struct {
	identity json.RawMessage   // the server's implementation as JSON
	alone    mcp.Meta          // _meta of a result that has no _meta of its own
	constant *jsonrpc.Constant // the members of alone
}

// newSignature encodes info, or returns an error if that is impossible.
func newSignature(info mcp.Implementation) (s signature, err error) {
	if s.identity, err = mcp.AppendResult(nil, info); err != nil {
		return s, err
	}
	if s.alone, err = mcp.Meta(nil).With(mcp.MetaServerInfo, s.identity); err == nil {
		s.constant, err = jsonrpc.NewConstant(s.alone)
	}
	return s, err
}

// append appends raw, a modern result, with the members that every modern result has: resultType, and the server's name
// in _meta. (specification 2026-07-28, basic/index, "ResultType")
func (s *signature) append(dst []byte, raw json.RawMessage) ([]byte, error) {
	if _, typed := mcp.Object(raw).Lookup("resultType"); !typed {
		whole, err := mcp.Object(raw).With("resultType", mcp.ResultComplete)
		if err != nil {
			return dst, err
		}
		raw = json.RawMessage(whole)
	}
	return jsonrpc.AppendParams(dst, jsonrpc.Meta{Const: s.constant}, raw)
}

// meta returns m, the _meta of a result, with the server's name in it.
func (s *signature) meta(m mcp.Meta) mcp.Meta {
	if m == nil {
		return s.alone
	}
	if joined := s.join(m); joined != nil {
		return joined
	}
	signed, err := m.With(mcp.MetaServerInfo, s.identity)
	if err != nil {
		return m // m is not a JSON object, so encoding the result fails later
	}
	return signed
}

// join returns m with the server's name as the last member. It returns nil if m already has a server's name, or if m is
// not a JSON object. join makes one allocation where [mcp.Object.With] makes nine.
func (s *signature) join(m mcp.Meta) mcp.Meta {
	o := jsonscan.ObjectAt(m, 0)
	for o.Next() {
		if string(o.Key()) == mcp.MetaServerInfo {
			return nil
		}
	}
	if o.Err() != nil || jsonscan.Rest(m, o.End()) != nil {
		return nil
	}
	members := bytes.TrimRight(m[:o.End()-1], " \t\r\n")
	if members[len(members)-1] == '{' {
		return s.alone
	}
	joined := make(mcp.Meta, 0, len(members)+len(s.alone))
	joined = append(append(joined, members...), ',')
	return append(joined, s.alone[1:]...) // without the opening brace
}

// shownResults pools copies of results that are being encoded.
var shownResults = sync.Pool{New: func() any { return new(mcp.CallToolResult) }}

// appendToolResult appends a tool's result, encoded for the client's revision.
func (w view) appendToolResult(dst []byte, r *mcp.CallToolResult) ([]byte, error) {
	shown := shownResults.Get().(*mcp.CallToolResult)
	if r != nil {
		*shown = *r
	}
	w.showToolResult(shown)
	dst, err := mcp.AppendResult(dst, shown)
	*shown = mcp.CallToolResult{} // after a panic of AppendResult, shown is not reused
	shownResults.Put(shown)
	return dst, err
}

// showToolResult adapts shown, a copy of a tool's result, to the client's revision.
func (w view) showToolResult(shown *mcp.CallToolResult) {
	shown.Content = contentIn(shown.Content, w.version)
	switch {
	case w.modern():
		shown.ResultType = finalType(shown.ResultType)
		shown.Meta = w.s.signature.meta(shown.Meta)
		return
	case w.version < mcp.Version20250618:
		shown.StructuredContent = nil
	case !isObject(shown.StructuredContent):
		shown.StructuredContent = nil
	}
	shown.ResultType = ""
}

// isObject reports whether raw, a JSON value, is an object.
func isObject(raw []byte) bool {
	raw = bytes.TrimLeft(raw, " \t\r\n")
	return len(raw) > 0 && raw[0] == '{'
}
