package mcpserver

import (
	"bytes"
	"encoding/json"

	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/internal/jsonscan"
	"github.com/mcpotel/mcpotel/mcp"
)

// signature is what a server says of itself with every modern result. It is immutable.
// (specification 2026-07-28, basic/index, "Per-response protocol fields")
type signature struct {
	identity json.RawMessage   // the server's implementation as JSON
	alone    mcp.Meta          // the _meta of a result that has no other
	constant *jsonrpc.Constant // its members
}

// newSignature encodes what a server says of itself, or says why that cannot be.
func newSignature(info mcp.Implementation) (s signature, err error) {
	if s.identity, err = mcp.AppendResult(nil, info); err != nil {
		return s, err
	}
	if s.alone, err = mcp.Meta(nil).With(mcp.MetaServerInfo, s.identity); err == nil {
		s.constant, err = jsonrpc.NewConstant(s.alone)
	}
	return s, err
}

// append appends a modern result with what every such has: its type, and the server's name in _meta.
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
		return m // no JSON object: encoding it will say so
	}
	return signed
}

// join returns the members of m with the server's name behind them, nil if m has one or is no JSON object. It takes one
// allocation where [mcp.Object.With] takes nine.
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
	return append(joined, s.alone[1:]...) // which begins with a bracket
}
