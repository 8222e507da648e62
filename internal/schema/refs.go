package schema

import (
	"net/url"
	"strconv"
	"strings"
)

// References are resolved here, within the schema and nowhere else, and given
// to the library as JSON Pointers into its tree. So the two cannot disagree
// about where one leads, which the search for cycles relies on, and nothing is
// left that the library could want to load.

// rootURI is the base of a schema that does not name its own.
var rootURI = &url.URL{Scheme: "schema", Path: "/"}

type reference struct {
	from         *node
	keyword, uri string
}

func (b *builder) reference(n *node, key string, v any) error {
	s, err := as[text](v, n.pointer+token(key), "a string")
	b.refs = append(b.refs, reference{n, key, string(s)})
	return err
}

// identify starts a new resource at n if it has an $id that names one.
func (b *builder) identify(n *node) error {
	v, ok := n.raw["$id"]
	if _, ref := n.raw["$ref"]; !ok || ref && b.dialect == Draft07 {
		return nil // a reference has no siblings in draft-07
	}
	pointer := n.pointer + "/$id"
	s, err := as[text](v, pointer, "a string")
	if err != nil {
		return err
	}
	id, err := url.Parse(string(s))
	switch {
	case err != nil:
		return fail(ErrInvalid, pointer, "not a URI reference: %s", show(s))
	case id.Fragment != "" && b.dialect == Draft07:
		return b.setAnchor(n, id.Fragment, pointer)
	case id.Fragment != "":
		return fail(ErrInvalid, pointer, "has a fragment: %s", show(s))
	}
	base := n.scope.base.ResolveReference(id)
	if base.String() == n.scope.base.String() {
		return nil
	}
	if _, ok := b.resources[base.String()]; ok {
		return fail(ErrInvalid, pointer, "used twice: %s", show(s))
	}
	n.scope = &resource{base: base, root: n, anchors: map[string]*node{}}
	b.resources[base.String()] = n.scope
	return nil
}

func (b *builder) anchor(n *node, key string, v any) error {
	pointer := n.pointer + token(key)
	s, err := as[text](v, pointer, "a string")
	if err != nil {
		return err
	}
	if key == "$dynamicAnchor" {
		b.dynamic[string(s)] = append(b.dynamic[string(s)], n)
	}
	return b.setAnchor(n, string(s), pointer)
}

func (b *builder) setAnchor(n *node, name, pointer string) error {
	if _, ok := n.scope.anchors[name]; ok {
		return fail(ErrInvalid, pointer, "used twice: %s", show(text(name)))
	}
	n.scope.anchors[name] = n
	return nil
}

// link resolves all references and joins their ends.
func (b *builder) link() error {
	b.setScopes()
	for _, r := range b.refs {
		to, anchor, err := b.resolve(r)
		if err != nil {
			return err
		}
		if r.keyword == "$ref" {
			r.from.lib.Ref = b.address(to)
			r.from.edges = append(r.from.edges, &edge{to: to, keyword: r.keyword})
		} else if err := b.linkDynamic(r, to, anchor); err != nil {
			return err
		}
	}
	return nil
}

// linkDynamic joins a $dynamicRef with its target, or with all that it may
// have, depending on the way taken to it.
func (b *builder) linkDynamic(r reference, to *node, anchor string) error {
	targets := []*node{to}
	r.from.lib.DynamicRef = b.address(to)
	if b.scoped(anchor) && to.raw["$dynamicAnchor"] == text(anchor) {
		targets = b.dynamic[anchor]
		r.from.lib.DynamicRef = to.scope.root.lib.ID + "#" + fragment(anchor)
	}
	if b.dynamicEdges += len(targets); b.dynamicEdges > MaxSubschemas {
		return fail(ErrLimit, r.from.pointer, "more than %d targets of dynamic references", MaxSubschemas)
	}
	for _, to := range targets {
		r.from.edges = append(r.from.edges, &edge{to: to, keyword: r.keyword})
	}
	return nil
}

// resolve returns the node that r leads to, and the name of the anchor if it
// names one.
func (b *builder) resolve(r reference) (to *node, anchor string, err error) {
	pointer := r.from.pointer + token(r.keyword)
	u, err := url.Parse(r.uri)
	if err != nil {
		return nil, "", fail(ErrRef, pointer, "not a URI reference: %s", show(text(r.uri)))
	}
	u = r.from.scope.base.ResolveReference(u)
	frag := u.Fragment
	u.Fragment, u.RawFragment = "", ""
	res, ok := b.resources[u.String()]
	if !ok {
		return nil, "", fail(ErrRef, pointer, "%s is outside the schema; nothing is fetched", show(text(r.uri)))
	}
	if frag == "" || strings.HasPrefix(frag, "/") {
		to = b.pointers[res.root.pointer+frag]
	} else {
		to, anchor = res.anchors[frag], frag
	}
	if to == nil {
		return nil, "", fail(ErrRef, pointer, "no subschema at %s", show(text(r.uri)))
	}
	return to, anchor, nil
}

// scoped reports whether the target of a $dynamicRef to the named anchor
// depends on the way taken to it: there is more than one.
func (b *builder) scoped(anchor string) bool { return len(b.dynamic[anchor]) > 1 }

// setScopes gives the library the dynamic anchors that depend on the way
// taken, and then the resources too, under URIs of its own.
func (b *builder) setScopes() {
	any := false
	for anchor, nodes := range b.dynamic {
		if !b.scoped(anchor) {
			continue
		}
		any = true
		for _, n := range nodes {
			n.lib.DynamicAnchor = anchor
		}
	}
	if !any {
		return
	}
	for _, r := range b.resources {
		r.root.lib.ID = "schema:///" + strconv.Itoa(r.root.id)
	}
}

// address is the URI of n for the library.
func (b *builder) address(n *node) string {
	return b.nodes[0].lib.ID + "#" + fragment(n.path)
}

func fragment(s string) string { return (&url.URL{Fragment: s}).EscapedFragment() }
