package groupname

import "strings"

// MaxAliases bounds, in bytes, what is remembered of the names of one list of one member. A name for which there is no
// room is looked up in the list each time.
const MaxAliases = 1 << 20

// Aliases are the things of a member that do not have their own names in the group, by those that they have.
type Aliases struct {
	names map[string]string
	size  int
}

// Add adds a thing, if there is room for its names, which share no memory with the list then.
func (a *Aliases) Add(name, own string) {
	const overhead = 64
	size := len(name) + len(own) + overhead
	if a.size+size > MaxAliases {
		return
	}
	if a.names == nil {
		a.names = map[string]string{}
	}
	a.names[name] = strings.Clone(own)
	a.size += size
}

// Own returns the own name of a thing, and whether it is remembered.
func (a *Aliases) Own(name string) (own string, known bool) {
	own, known = a.names[name]
	return own, known
}

// Len returns how many are remembered.
func (a *Aliases) Len() int { return len(a.names) }
