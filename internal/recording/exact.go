package recording

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mcpotel/mcpotel/internal/jsonscan"
)

// Exact returns an error if two JSON readers may find different values for a known member of an object: if the member
// occurs twice, or in another letter case, which some JSON libraries accept for the same name. A value other than an
// object has no members.
func Exact(object []byte, known ...string) error {
	var seen []string
	walk := jsonscan.ObjectAt(object, 0)
	for walk.Next() {
		i := slices.IndexFunc(known, func(name string) bool { return strings.EqualFold(name, string(walk.Key())) })
		if i < 0 {
			continue
		}
		switch name := known[i]; {
		case name != string(walk.Key()):
			return fmt.Errorf("the member %q has the wrong letter case %q: some programs read it as %[1]q", name, walk.Key())
		case slices.Contains(seen, name):
			return fmt.Errorf("the member %q occurs twice: programs differ in which of the two they use", name)
		default:
			seen = append(seen, name)
		}
	}
	return nil
}

// lineMembers are the known members of a recording's lines: entries and the end line.
var lineMembers = []string{
	"session", "seq", "at_us", "from", "kind", "method", "request", "name", "bytes", "took_us", "code", "tool_error",
	"trace_id", "span_id", "id", "params", "result", "error", "end", "entries", "why",
}
