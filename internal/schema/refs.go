package schema

import (
	"net/url"
	"strings"
)

// References are resolved within the schema and nowhere else.

// rootURI is the base URI of a schema without $id.
var rootURI = &url.URL{Scheme: "schema", Path: "/"}

// maxBase bounds the bytes of a resource's URI, because every reference is resolved against the URI of a resource.
const maxBase = 2048

func newResource(base *url.URL, root *node) *resource {
	return &resource{base: base, root: root, anchors: map[string]*node{}, dynamic: map[string]*node{}}
}

type reference struct {
	from         *node
	keyword, uri string
}

func (b *builder) reference(n *node, key string, v value) error {
	s, err := str(v, n.pointer+token(key))
	b.refs = append(b.refs, reference{n, key, s})
	return err
}

// identify starts a new resource at n if n has an $id with a new URI.
func (b *builder) identify(n *node) error {
	v := n.raw.get("$id")
	if v.kind() == absent || n.raw.has("$ref") && b.dialect == Draft07 {
		return nil // in draft-07, $ref disables its siblings
	}
	pointer := n.pointer + "/$id"
	s, err := str(v, pointer)
	if err != nil {
		return err
	}
	id, err := url.Parse(s)
	switch {
	case err != nil:
		return fail(ErrInvalid, pointer, "not a URI reference: %s", show(v))
	case id.Fragment != "" && b.dialect == Draft07:
		return b.setAnchor(n, id.Fragment, pointer)
	case id.Fragment != "":
		return fail(ErrInvalid, pointer, "has a fragment: %s", show(v))
	}
	base := n.scope.base.ResolveReference(id)
	if base.String() == n.scope.base.String() {
		return nil
	}
	uri := base.String()
	if len(uri) > maxBase {
		return fail(ErrLimit, pointer, "the URI has %d bytes, more than %d", len(uri), maxBase)
	}
	if _, ok := b.resources[uri]; ok {
		return fail(ErrInvalid, pointer, "used more than once: %s", show(v))
	}
	n.scope = newResource(base, n)
	b.resources[uri] = n.scope
	return nil
}

func (b *builder) anchor(n *node, key string, v value) error {
	pointer := n.pointer + token(key)
	s, err := str(v, pointer)
	if err != nil {
		return err
	}
	if key == "$dynamicAnchor" {
		b.anchors[s] = append(b.anchors[s], n)
		n.scope.dynamic[s] = n
	}
	return b.setAnchor(n, s, pointer)
}

func (b *builder) setAnchor(n *node, name, pointer string) error {
	if _, ok := n.scope.anchors[name]; ok {
		return fail(ErrInvalid, pointer, "used more than once: %s", showText(name))
	}
	n.scope.anchors[name] = n
	return nil
}

// link resolves all references and adds their edges.
func (b *builder) link() error {
	for _, r := range b.refs {
		to, anchor, err := b.resolve(r)
		if err != nil {
			return err
		}
		e := &edge{to: to, keyword: r.keyword}
		r.from.edges = append(r.from.edges, e)
		if r.keyword == "$ref" {
			r.from.ref = e
		} else if err := b.linkDynamic(r.from, e, anchor); err != nil {
			return err
		}
	}
	return nil
}

// linkDynamic adds edges from a $dynamicRef to all its candidates. e is the edge to the statically resolved anchor.
func (b *builder) linkDynamic(from *node, e *edge, anchor string) error {
	from.dynamic = &dynamicRef{static: e}
	targets := b.anchors[anchor]
	if len(targets) < 2 || !e.to.raw.get("$dynamicAnchor").is(anchor) {
		return nil
	}
	if b.dynamicEdges += len(targets); b.dynamicEdges > MaxSubschemas {
		return fail(ErrLimit, from.pointer, "more than %d targets of dynamic references", MaxSubschemas)
	}
	b.scoped = true
	from.dynamic.anchor, from.dynamic.to = anchor, make(map[*node]*edge, len(targets))
	for _, to := range targets {
		e := &edge{to: to, keyword: e.keyword}
		from.dynamic.to[to] = e
		from.edges = append(from.edges, e)
	}
	return nil
}

// resolve returns the node that r refers to, and the name of the anchor if r uses one.
func (b *builder) resolve(r reference) (to *node, anchor string, err error) {
	pointer := r.from.pointer + token(r.keyword)
	u, err := url.Parse(r.uri)
	if err != nil {
		return nil, "", fail(ErrRef, pointer, "not a URI reference: %s", showText(r.uri))
	}
	u = r.from.scope.base.ResolveReference(u)
	frag := u.Fragment
	u.Fragment, u.RawFragment = "", ""
	res, ok := b.resources[u.String()]
	if !ok {
		return nil, "", fail(ErrRef, pointer, "%s is outside the schema; nothing is fetched", showText(r.uri))
	}
	if frag == "" || strings.HasPrefix(frag, "/") {
		if err := b.place(len(res.root.pointer), pointer); err != nil {
			return nil, "", err
		}
		to = b.pointers[res.root.pointer+frag]
	} else {
		to, anchor = res.anchors[frag], frag
	}
	if to == nil {
		return nil, "", fail(ErrRef, pointer, "no subschema at %s", showText(r.uri))
	}
	return to, anchor, nil
}
