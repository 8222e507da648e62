package groupname

import "strings"

// MaxAliases bounds the memory for the names of one list of one member, in bytes. A name that does not fit is looked up
// in the list each time.
const MaxAliases = 1 << 20

// Aliases maps names in the group to original names, for one member. It has only the tools and prompts whose two names
// differ.
type Aliases struct {
	names map[string]string
	size  int
}

// Add adds a name, if there is space. It copies the names, so that they share no memory with the list.
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

// Own returns the original name, and whether Aliases has it.
func (a *Aliases) Own(name string) (own string, known bool) {
	own, known = a.names[name]
	return own, known
}

// Len returns the number of names.
func (a *Aliases) Len() int { return len(a.names) }
