package mcpserver

import (
	"bytes"
	"encoding/json"

	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/internal/jsonscan"
	"github.com/mcpotel/mcpotel/mcp"
)

// signature identifies the server in every modern result. It is immutable.
// (specification 2026-07-28, basic/index, "Per-response protocol fields")
type signature struct {
	identity json.RawMessage   // the server's implementation as JSON
	alone    mcp.Meta          // _meta of a result that has no other
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

// append appends a modern result with the members that every modern result has: its type, and the server's name in
// _meta.
// (specification 2026-07-28, basic/index, "ResultType")
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

// meta returns the _meta of a result with the server's name in it.
func (s *signature) meta(m mcp.Meta) mcp.Meta {
	if m == nil {
		return s.alone
	}
	if joined := s.join(m); joined != nil {
		return joined
	}
	signed, err := m.With(mcp.MetaServerInfo, s.identity)
	if err != nil {
		return m // not a JSON object: encoding the result fails later
	}
	return signed
}

// join returns m with the server's name as the last member, nil if m has one already or is no JSON object. It makes one
// allocation where [mcp.Object.With] makes nine.
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
	return append(joined, s.alone[1:]...) // without the bracket
}
