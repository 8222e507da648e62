package mcpclient

import (
	"slices"
	"sync"
	"unsafe"

	"github.com/mcpotel/mcpotel/internal/mirror"
	"github.com/mcpotel/mcpotel/internal/schema"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/internal/loops"
)

// The bounds of a toolSet, in bytes. A tool costs what is kept of it and an overhead, roughly so.
const (
	toolRoom     = 8 << 20          // for all
	schemaRoom   = toolRoom / 4 * 3 // for more than the names
	toolOverhead = 256
)

// toolSet is what is kept of some tools, by name. Nothing in it shares memory with the lists that it comes from. If
// there is no room for all of a tool, its name is kept without the rest, and if there is none for that, nothing.
type toolSet struct {
	tools   map[string]*toolSchema
	size    int32 // toolRoom at most
	partial bool  // there was no room for a name
}

// toolSchema is what calls of a tool need to know of it. It is not changed any more.
type toolSchema struct {
	compile  func() (*schema.Schema, error) // of the output
	mirrored []mirror.Param
	tasks    mcp.TaskSupport // of a server of 2025-11-25; empty for forbidden
	harmless bool            // to call it twice is to call it once, says the server
	traits   loops.Traits    // that it says besides
	size     int             // in bytes, without the name
}

// nameOnly stands for a tool of which there was room for the name only.
var nameOnly = &toolSchema{}

// params returns the parameters that are repeated in headers. t may be nil.
func (t *toolSchema) params() []mirror.Param {
	if t == nil {
		return nil
	}
	return t.mirrored
}

// put keeps a tool, in the place of another one of the name, as far as there is room.
func (s *toolSet) put(name string, t *toolSchema) {
	s.drop(name)
	if int(s.size)+cost(name, t) > schemaRoom {
		t = nameOnly
	}
	if int(s.size)+cost(name, t) > toolRoom {
		s.partial = true
		return
	}
	if s.tools == nil {
		s.tools = map[string]*toolSchema{}
	}
	s.tools[name] = t
	s.size += int32(cost(name, t))
}

// drop forgets a tool, if it is kept.
func (s *toolSet) drop(name string) {
	if old := s.tools[name]; old != nil {
		s.size -= int32(cost(name, old))
		delete(s.tools, name)
	}
}

func cost(name string, t *toolSchema) int { return len(name) + t.size + toolOverhead }

// newToolSchema takes from a tool what is kept of it; mirrors says that parameters are repeated in headers.
func newToolSchema(t *mcp.Tool, mirrors bool) *toolSchema {
	s := &toolSchema{compile: noSchema, tasks: mcp.TaskForbidden}
	for _, support := range []mcp.TaskSupport{mcp.TaskOptional, mcp.TaskRequired} { // whose text is not the list's
		if t.Execution != nil && t.Execution.TaskSupport == support {
			s.tasks = support
		}
	}
	if a := t.Annotations; a != nil {
		s.harmless = a.ReadOnlyHint != nil && *a.ReadOnlyHint || a.IdempotentHint != nil && *a.IdempotentHint
		s.traits = traitsOf(a)
	}
	if t.OutputSchema != nil {
		s.compile, s.size = compiler(t.OutputSchema)
	}
	if mirrors {
		params, _ := mirror.Params(t.InputSchema) // it has been checked
		s.mirror(params)
	}
	return s
}

// mirror notes the parameters that are repeated in headers.
func (t *toolSchema) mirror(params []mirror.Param) {
	t.mirrored = params
	for _, p := range params {
		t.size += sizeOf(p)
	}
}

func noSchema() (*schema.Schema, error) { return nil, nil }

// compiler returns what compiles a schema, once, and what it keeps for that, in bytes.
func compiler(text []byte) (compile func() (*schema.Schema, error), size int) {
	if len(text) > schema.MaxBytes {
		_, err := schema.Compile(text) // the error does not depend on the text any more
		return func() (*schema.Schema, error) { return nil, err }, 0
	}
	text = slices.Clone(text)
	return sync.OnceValues(func() (*schema.Schema, error) { return schema.Compile(text) }), len(text)
}

func sizeOf(p mirror.Param) int {
	size := len(p.Header) + int(unsafe.Sizeof(p))
	for _, step := range p.Path {
		size += len(step) + int(unsafe.Sizeof(step))
	}
	return size
}
