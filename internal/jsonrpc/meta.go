package jsonrpc

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/mcpotel/mcpotel/internal/jsonscan"
)

// Meta holds the members to add to params._meta of an outgoing message. The zero Meta adds nothing.
//
// No member is written twice. If several sources have a member, the first of these wins: Const, ProgressToken, the
// trace context, User, and the existing _meta of the params. The keys of the trace context in User and in the existing
// _meta are always dropped, even if there is no value to replace them: a message must not claim to belong to a trace
// that its sender does not know.
type Meta struct {
	Const         *Constant // members of the session; nil for none
	ProgressToken ID        // zero for none
	Traceparent   string    // W3C trace context; empty for none
	Tracestate    string
	Baggage       string
	Propagated    map[string]string // other members of the trace context, by key; nil for none
	Declared      []string          // other keys that the trace context may have
	User          []byte            // a raw JSON object; empty or null for none
}

// Constant is a fixed set of members, encoded and validated once. It is immutable.
type Constant struct {
	members []byte // encoded, without braces
	names   []string
}

// NewConstant returns the members of object, a raw JSON object.
func NewConstant(object []byte) (*Constant, error) {
	line, err := jsonscan.AppendLine(nil, object)
	if err != nil {
		return nil, err
	}
	c := &Constant{}
	o := jsonscan.ObjectAt(line, 0)
	for o.Next() {
		name := string(o.Key())
		if c.has(o.Key()) {
			return nil, fmt.Errorf("member %q occurs twice", name)
		}
		c.names = append(c.names, name)
	}
	if o.Err() != nil {
		return nil, o.Err()
	}
	c.members = bytes.TrimSpace(line[1 : len(line)-1])
	return c, nil
}

func (c *Constant) empty() bool { return c == nil || len(c.names) == 0 }

func (c *Constant) has(name []byte) bool {
	return c != nil && slices.ContainsFunc(c.names, func(n string) bool { return n == string(name) })
}

// AppendParams appends the JSON object params to dst, with _meta as its first member. params may be empty or null for
// an object without members. _meta combines the members of meta with those of an existing _meta in params, by the rules
// of [Meta]. If meta is empty and params has no _meta, the object has no _meta.
//
// AppendParams validates params and meta.User, so that neither can break out of its object, and replaces line breaks
// between their tokens by spaces. On an error, it returns dst unchanged.
func AppendParams(dst []byte, meta Meta, params []byte) ([]byte, error) {
	return meta.appendParams(dst, params)
}

func (m *Meta) appendParams(dst, params []byte) ([]byte, error) {
	n := len(dst)
	p, err := openParams(params)
	if err != nil {
		return dst, fmt.Errorf("params: %w", err)
	}
	dst = append(dst, '{')
	if !m.empty() || p.meta != nil {
		if dst, err = m.append(dst, p.meta); err != nil {
			return dst[:n], err
		}
		if len(p.before)+len(p.behind) > 0 {
			dst = append(dst, ',')
		}
	}
	dst = jsonscan.AppendOneLine(dst, p.before)
	dst = jsonscan.AppendOneLine(dst, p.behind)
	return append(dst, '}'), nil
}

func (m *Meta) empty() bool {
	return m.Const.empty() && m.ProgressToken.IsZero() && m.Traceparent == "" && m.Tracestate == "" && m.Baggage == "" &&
		len(m.Propagated) == 0 && isNone(m.User)
}

// isNone reports whether raw, an optional object, is missing.
func isNone(raw []byte) bool { return len(raw) == 0 || string(raw) == "null" }

// append appends _meta; theirs is the existing _meta of the params, nil for none.
func (m *Meta) append(dst, theirs []byte) ([]byte, error) {
	dst, err := m.appendMembers(append(dst, `"_meta":{`...), theirs)
	return append(dst, '}'), err
}

// appendMembers appends the members of _meta. theirs is the existing _meta of the params, nil for none.
func (m *Meta) appendMembers(dst, theirs []byte) ([]byte, error) {
	if !m.Const.empty() {
		dst = append(comma(dst), m.Const.members...)
	}
	if !m.ProgressToken.IsZero() && !m.Const.has([]byte("progressToken")) {
		dst = append(comma(dst), `"progressToken":`...)
		dst = m.ProgressToken.AppendJSON(dst)
	}
	dst = m.appendText(dst, "traceparent", m.Traceparent)
	dst = m.appendText(dst, "tracestate", m.Tracestate)
	dst = m.appendText(dst, "baggage", m.Baggage)
	if len(m.Propagated) > 0 {
		for _, key := range slices.Sorted(maps.Keys(m.Propagated)) {
			dst = m.appendText(dst, key, m.Propagated[key])
		}
	}
	if isNone(m.User) && theirs == nil {
		return dst, nil
	}
	return m.appendUsers(dst, theirs)
}

// appendUsers appends the members of m.User and theirs that m does not reserve.
func (m *Meta) appendUsers(dst, theirs []byte) (_ []byte, err error) {
	var written names
	if !isNone(m.User) {
		if dst, err = m.appendRest(dst, m.User, &written); err != nil {
			return dst, fmt.Errorf("metadata: %w", err)
		}
	}
	if theirs != nil {
		if dst, err = m.appendRest(dst, theirs, &written); err != nil {
			return dst, fmt.Errorf("params._meta: %w", err)
		}
	}
	return dst, nil
}

// comma appends a comma unless the next member is the first of its object.
func comma(dst []byte) []byte {
	if dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	return dst
}

// appendText appends a member of the trace context, unless its value is empty or m.Const has its name.
func (m *Meta) appendText(dst []byte, name, value string) []byte {
	if value == "" || m.Const.has([]byte(name)) {
		return dst
	}
	dst = jsonscan.AppendString(comma(dst), name)
	dst = append(dst, ':')
	return jsonscan.AppendString(dst, value)
}

// appendRest appends those members of the raw JSON object that m does not reserve and that are not in written.
func (m *Meta) appendRest(dst, object []byte, written *names) ([]byte, error) {
	o := jsonscan.ObjectAt(object, 0)
	for o.Next() {
		raw := o.Raw()
		if raw == nil || m.reserves(o.Key()) || written.again(stable(o.Key(), object[o.KeyAt()+1:])) {
			continue
		}
		dst = jsonscan.AppendOneLine(comma(dst), object[o.KeyAt():o.At()+len(raw)])
	}
	if o.Err() != nil {
		return dst, o.Err()
	}
	return dst, jsonscan.Rest(object, o.End())
}

// stable returns a name that stays valid after the next step of the iteration. in is the text of the object from the
// name on. stable returns the bytes in it, or a copy if the name has escapes.
func stable(name, in []byte) []byte {
	if same := in[:len(name)]; string(same) == string(name) {
		return same
	}
	return bytes.Clone(name)
}

// reserves reports whether m drops the user's member of this name.
func (m *Meta) reserves(name []byte) bool {
	switch string(name) {
	case "traceparent", "tracestate", "baggage":
		return true
	case "progressToken":
		if !m.ProgressToken.IsZero() {
			return true
		}
	}
	if _, written := m.Propagated[string(name)]; written {
		return true
	}
	return m.Const.has(name) || slices.ContainsFunc(m.Declared, func(key string) bool { return key == string(name) })
}

// openedParams are validated params, split around their _meta.
type openedParams struct {
	meta           []byte // the raw object; nil for none
	before, behind []byte // the other members, with the commas between them
}

var errTwoMetas = errors.New("member \"_meta\" occurs twice")

// openParams validates and splits the raw object params, which may be empty or null.
func openParams(params []byte) (p openedParams, err error) {
	if isNone(params) {
		return p, nil
	}
	first, end := -1, -1  // offsets of the first member's name and of the end of the latest value
	cut, resume := -1, -1 // offsets of the name of _meta and of the name of the next member
	front := -1           // offset of the end of the value before _meta
	o := jsonscan.ObjectAt(params, 0)
	for o.Next() {
		if first < 0 {
			first = o.KeyAt()
		}
		if cut >= 0 && resume < 0 {
			resume = o.KeyAt()
		}
		raw := o.Raw()
		if string(o.Key()) == "_meta" {
			if cut >= 0 {
				return openedParams{}, errTwoMetas
			}
			cut, front = o.KeyAt(), end
			if string(raw) != "null" {
				p.meta = raw
			}
		}
		end = o.At() + len(raw)
	}
	if err = o.Err(); err == nil {
		err = jsonscan.Rest(params, o.End())
	}
	switch {
	case err != nil:
		return openedParams{}, err
	case first < 0:
	case cut < 0:
		p.before = params[first:end]
	case resume >= 0:
		p.before, p.behind = params[first:cut], params[resume:end]
	case front >= 0:
		p.before = params[first:front]
	}
	return p, nil
}
