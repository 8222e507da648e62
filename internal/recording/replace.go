package recording

import (
	"encoding/json"
	"slices"

	"github.com/mcpotel/mcpotel/internal/jsonscan"
)

// Replace returns object with value at a path, and all other bytes unchanged. It returns object unchanged if there is
// no such member.
func Replace(object, value json.RawMessage, path ...string) json.RawMessage {
	if i := jsonscan.Space(object, 0); i == len(object) || object[i] != '{' {
		return object
	}
	o := jsonscan.ObjectAt(object, 0)
	for o.Next() {
		if string(o.Key()) != path[0] {
			continue
		}
		at := o.At()
		old := o.Raw()
		with := value
		if len(path) > 1 {
			with = Replace(old, value, path[1:]...)
		}
		return slices.Concat(object[:at], with, object[at+len(old):])
	}
	return object
}
