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

// params are the params of a message of the peer in front, a valid object or nothing, and where in them is what the
// relay has to know. They are sent as they are, but for the trace context.
type params struct {
	raw             []byte
	first           int    // where the first member begins; 0 if there is none
	meta            []byte // the object, nil for none
	metaAt          int    // where it begins
	unclear         bool   // _meta is there twice, or is no object: it is left alone
	name, uri, task []byte
	Arguments       []byte // of a tool or a prompt
}

// readParams walks over raw once.
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

// Raw returns the params as they are.
func (p *params) Raw() json.RawMessage { return p.raw }

// Target returns the text that names what a method is about, empty if there is none.
func (p *params) Target(t mcp.Target) string {
	raw := [...][]byte{
		mcp.TargetTool: p.name, mcp.TargetPrompt: p.name, mcp.TargetResource: p.uri, mcp.TargetTask: p.task,
	}[t]
	text, _ := jsonrpc.Text(raw)
	return text
}

// Version is the revision that a modern message says it is of, empty for none.
func (p *params) Version() mcp.Version {
	if p.meta == nil || p.unclear {
		return ""
	}
	return readVersion(p.meta, mcp.MetaProtocolVersion)
}

// Asks returns what the message asks to be told of meanwhile: progress, under this token, the zero ID for none, and log
// messages, in a modern revision.
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

// Replace puts another token in the place of the one that [params.Asks] returns.
func (p *params) Replace(token jsonrpc.ID) {
	for o := jsonscan.ObjectAt(p.meta, 0); o.Next(); {
		if string(o.Key()) == "progressToken" {
			at := p.metaAt + o.At()
			*p = readParams(slices.Concat(p.raw[:at], token.AppendJSON(nil), p.raw[at+len(o.Raw()):]))
			return
		}
	}
}

// append appends the params as the last member of a message, and ends that. The trace context takes the place of the
// peer's, unless it is that of no span: then what the peer says stays.
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

// appendTraced appends the object meta, nil for none, with this trace context and without another.
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

// separated separates the member that follows from the one before, if there is one.
func separated(dst []byte) []byte {
	if bytes.HasSuffix(dst, []byte("{")) {
		return dst
	}
	return append(dst, ',')
}

// encode makes the frame of the request.
func (q *request) encode() {
	q.Frame = jsonrpc.AppendRequestHead(q.Frame[:0], jsonrpc.IntID(q.ID), q.Method)
	q.head = len(q.Frame)
	q.Frame = q.params.append(q.Frame, q.TraceContext())
}

// sent returns the params that the request has been encoded with. They lie in its frame.
func (q *request) sent() params {
	raw, ok := bytes.CutPrefix(q.Frame[q.head:len(q.Frame)-1], []byte(beforeParams))
	if !ok {
		return params{}
	}
	return readParams(raw)
}

const beforeParams = `,"params":`

// member returns the raw member of valid JSON that is found on this path, nil if there is none.
func member(raw []byte, path ...string) []byte {
	for _, name := range path {
		raw, _ = mcp.Object(raw).Lookup(name)
	}
	return raw
}

// readText returns the text on a path, as much of it as is shown, and empty if there is none.
func readText(raw []byte, path ...string) string {
	text, _ := jsonrpc.Text(member(raw, path...))
	return conn.Excerpt(text, conn.MaxShown)
}

// readVersion returns the revision on a path, empty if it is none that can be repeated in a header.
func readVersion(raw []byte, path ...string) mcp.Version {
	text, _ := jsonrpc.Text(member(raw, path...))
	if len(text) > conn.MaxShown || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return ""
	}
	return mcp.Version(strings.Clone(text))
}
