package toolform

import (
	"maps"
	"net/url"
	"strconv"
	"strings"
)

// Add adds an empty item to the array at path, and changes v. It does nothing if there is no such array, or if the form
// has no room for a further item.
func (f *Form) Add(v url.Values, path string) {
	n := f.array(path)
	if n == nil {
		return
	}
	count := inputs(v).count(n, path, n.Required)
	if count >= n.most() {
		return
	}
	v.Set(path+"#", strconv.Itoa(count+1))
	if !f.fits(v) {
		v.Set(path+"#", strconv.Itoa(count))
	}
}

// Remove removes the item at path, such as /lines/1, from its array, and changes v. The later items move up. Remove
// does nothing if there is no such item.
func (f *Form) Remove(v url.Values, path string) {
	i := max(strings.LastIndexByte(path, '/'), 0)
	path, last := path[:i], path[i:]
	n := f.array(path)
	index, err := strconv.Atoi(strings.TrimPrefix(last, "/"))
	if n == nil || err != nil {
		return
	}
	count := inputs(v).count(n, path, n.Required)
	if index < 0 || index >= count {
		return
	}
	moved := url.Values{}
	for key, values := range v {
		rest, below := strings.CutPrefix(key, path+"/")
		number, _, _ := strings.Cut(rest, "/")
		at, err := strconv.Atoi(number)
		if !below || err != nil || at < index {
			continue
		}
		delete(v, key)
		if at > index {
			moved[path+"/"+strconv.Itoa(at-1)+strings.TrimPrefix(rest, number)] = values
		}
	}
	maps.Copy(v, moved)
	v.Set(path+"#", strconv.Itoa(count-1))
}

// array returns the array of objects at path, or nil if there is none.
func (f *Form) array(path string) *node {
	nodes, at := f.root, ""
	isItem := false // the next step is the number of an item
	for step := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		at += "/" + step
		if isItem {
			isItem = false
			continue
		}
		var found *node
		for _, n := range nodes {
			if child("", n.Name) == "/"+step {
				found = n
			}
		}
		switch {
		case found == nil:
			return nil
		case found.kind == KindArray && at == path:
			return found
		case found.kind == KindArray:
			nodes, isItem = found.item.members, true
		default:
			nodes = found.members
		}
	}
	return nil
}
