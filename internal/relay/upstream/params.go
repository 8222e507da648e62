package upstream

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/mcpotel/mcpotel/internal/client/conn"
	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/internal/jsonscan"
	"github.com/mcpotel/mcpotel/mcp"
)

// params holds the params of a message of the peer in front: a valid JSON object, or nil. The fields locate the members
// that the relay needs. The relay sends the params unchanged, except for the trace context.
type params struct {
	raw             []byte
	first           int    // offset of the first member; 0 for none
	meta            []byte // the object _meta; nil if there is none
	metaAt          int    // offset of meta
	unclear         bool   // _meta is duplicated or not an object, so it stays unchanged
	name, uri, task []byte
	Arguments       []byte // arguments of a tool or a prompt
}

// readParams reads raw in one pass.
func readParams(raw []byte) params {
	p := params{raw: raw}
	for o := jsonscan.ObjectAt(raw, 0); o.Next(); {
		if p.first == 0 {
			p.first = o.KeyAt()
		}
		value := o.Raw()
		switch string(o.Key()) {
		case "_meta":
			p.unclear = p.unclear || p.meta != nil || o.First() != '{'
			p.meta, p.metaAt = value, o.At()
		case "name":
			p.name = value
		case "uri":
			p.uri = value
		case "taskId":
			p.task = value
		case "arguments":
			p.Arguments = value
		}
	}
	return p
}

// Raw returns the params unchanged.
func (p *params) Raw() json.RawMessage { return p.raw }

// Target returns the name or URI of the method's target. It is empty if there is none.
func (p *params) Target(t mcp.Target) string {
	raw := [...][]byte{
		mcp.TargetTool: p.name, mcp.TargetPrompt: p.name, mcp.TargetResource: p.uri, mcp.TargetTask: p.task,
	}[t]
	text, _ := jsonrpc.Text(raw)
	return text
}

// Version returns the revision in the _meta of a modern message. It is empty if there is none.
func (p *params) Version() mcp.Version {
	if p.meta == nil || p.unclear {
		return ""
	}
	return readVersion(p.meta, mcp.MetaProtocolVersion)
}

// Asks returns the progress token of the message, which is zero if there is none. logs reports whether a modern message
// asks for log messages.
func (p *params) Asks() (token jsonrpc.ID, logs bool) {
	if p.unclear {
		return token, false
	}
	for o := jsonscan.ObjectAt(p.meta, 0); o.Next(); {
		switch string(o.Key()) {
		case "progressToken":
			token, _ = jsonrpc.ParseID(o.Raw())
		case mcp.MetaLogLevel:
			logs = true
		}
	}
	return token, logs
}

// Replace replaces the progress token.
func (p *params) Replace(token jsonrpc.ID) {
	for o := jsonscan.ObjectAt(p.meta, 0); o.Next(); {
		if string(o.Key()) == "progressToken" {
			at := p.metaAt + o.At()
			*p = readParams(slices.Concat(p.raw[:at], token.AppendJSON(nil), p.raw[at+len(o.Raw()):]))
			return
		}
	}
}

// append appends the params as the last member of a message, and the closing brace of the message. The relay's trace
// context replaces the peer's trace context, unless the relay's trace context has no span.
func (p *params) append(dst []byte, trace *instrument.TraceContext) []byte {
	if p.unclear || trace.Traceparent == "" && len(trace.Others) == 0 {
		if p.raw != nil {
			dst = append(append(dst, beforeParams...), p.raw...)
		}
		return append(dst, '}')
	}
	dst = append(dst, beforeParams...)
	switch {
	case p.meta != nil:
		dst = append(dst, p.raw[:p.metaAt]...)
		dst = appendTraced(dst, p.meta, trace)
		dst = append(dst, p.raw[p.metaAt+len(p.meta):]...)
	case p.first > 0:
		dst = appendTraced(append(dst, `{"_meta":`...), nil, trace)
		dst = append(append(dst, ','), p.raw[p.first:]...)
	default:
		dst = append(appendTraced(append(dst, `{"_meta":`...), nil, trace), '}')
	}
	return append(dst, '}')
}

// appendTraced appends the object meta, and replaces the trace context in it with the given one. meta may be nil.
func appendTraced(dst, meta []byte, trace *instrument.TraceContext) []byte {
	dst = append(dst, '{')
	for key, value := range trace.All() {
		dst = append(jsonscan.AppendString(separated(dst), key), ':')
		dst = jsonscan.AppendString(dst, value)
	}
	own := func(name []byte) bool {
		for key := range trace.Keys() {
			if string(name) == key {
				return true
			}
		}
		return false
	}
	for o := jsonscan.ObjectAt(meta, 0); o.Next(); {
		if value := o.Raw(); !own(o.Key()) {
			dst = append(separated(dst), meta[o.KeyAt():o.At()+len(value)]...)
		}
	}
	return append(dst, '}')
}

// separated appends a comma, unless dst ends with an opening brace.
func separated(dst []byte) []byte {
	if bytes.HasSuffix(dst, []byte("{")) {
		return dst
	}
	return append(dst, ',')
}

// encode encodes the frame of the request.
func (q *request) encode() {
	q.Frame = jsonrpc.AppendRequestHead(q.Frame[:0], jsonrpc.IntID(q.ID), q.Method)
	q.head = len(q.Frame)
	q.Frame = q.params.append(q.Frame, q.TraceContext())
}

// sent returns the params in the frame of the request. They share memory with the frame.
func (q *request) sent() params {
	raw, ok := bytes.CutPrefix(q.Frame[q.head:len(q.Frame)-1], []byte(beforeParams))
	if !ok {
		return params{}
	}
	return readParams(raw)
}

const beforeParams = `,"params":`

// member returns the raw member at a path in valid JSON, or nil.
func member(raw []byte, path ...string) []byte {
	for _, name := range path {
		raw, _ = mcp.Object(raw).Lookup(name)
	}
	return raw
}

// readText returns the text at a path, cut at conn.MaxShown. It is empty if there is none.
func readText(raw []byte, path ...string) string {
	text, _ := jsonrpc.Text(member(raw, path...))
	return conn.Excerpt(text, conn.MaxShown)
}

// readVersion returns the revision at a path. It is empty if the text is not valid in an HTTP header.
func readVersion(raw []byte, path ...string) mcp.Version {
	text, _ := jsonrpc.Text(member(raw, path...))
	if len(text) > conn.MaxShown || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return ""
	}
	return mcp.Version(strings.Clone(text))
}
