package mcpclient

import (
	"slices"
	"sync"

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
	tools   *toolTable // nil for none
	size    int32      // toolRoom at most
	partial bool       // there was no room for a name
}

// toolTable has tools by name. Most servers have a handful, which as a list take a fraction of the memory of a map.
type toolTable struct {
	list []namedTool            // up to fewTools
	m    map[string]*toolSchema // nil as long as there is the list
}

type namedTool struct {
	name string
	tool *toolSchema
}

const fewTools = 8

// get returns the tool of a name, nil if there is none. t may be nil.
func (t *toolTable) get(name string) *toolSchema {
	if t == nil {
		return nil
	}
	if t.m != nil {
		return t.m[name]
	}
	if i := t.index(name); i >= 0 {
		return t.list[i].tool
	}
	return nil
}

func (t *toolTable) index(name string) int {
	return slices.IndexFunc(t.list, func(n namedTool) bool { return n.name == name })
}

// add adds a tool whose name is not there.
func (t *toolTable) add(name string, tool *toolSchema) {
	if t.m == nil && len(t.list) < fewTools {
		t.list = append(t.list, namedTool{name, tool})
		return
	}
	if t.m == nil {
		t.m = make(map[string]*toolSchema, 2*fewTools)
		for _, n := range t.list {
			t.m[n.name] = n.tool
		}
		t.list = nil
	}
	t.m[name] = tool
}

// remove removes the tool of a name that is there.
func (t *toolTable) remove(name string) {
	if t.m != nil {
		delete(t.m, name)
		return
	}
	i := t.index(name)
	t.list = slices.Delete(t.list, i, i+1)
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

// simpleTool is a tool that calls need to know nothing of.
var simpleTool = &toolSchema{compile: noSchema, tasks: mcp.TaskForbidden}

// nameOnly stands for a tool of which there was room for the name only.
var nameOnly = &toolSchema{}

// params returns the parameters that are repeated in headers. t may be nil.
func (t *toolSchema) params() []mirror.Param {
	if t == nil {
		return nil
	}
	return t.mirrored
}

// expect makes room for n tools, if there are none yet. With 1,000 tools the map that need not grow is 5 % of the CPU
// time of their list.
func (s *toolSet) expect(n int) {
	if s.tools == nil && n > fewTools {
		s.tools = &toolTable{m: make(map[string]*toolSchema, min(n, toolRoom/toolOverhead))}
	}
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
		s.tools = new(toolTable)
	}
	s.tools.add(name, t)
	s.size += int32(cost(name, t))
}

// drop forgets a tool, if it is kept.
func (s *toolSet) drop(name string) {
	if old := s.tools.get(name); old != nil {
		s.size -= int32(cost(name, old))
		s.tools.remove(name)
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
	if t.OutputSchema == nil && s.isSimple() {
		return simpleTool
	}
	return s
}

// isSimple reports whether calls need to know nothing of t, but for its output.
func (t *toolSchema) isSimple() bool {
	return t.mirrored == nil && t.tasks == mcp.TaskForbidden && !t.harmless && t.traits == 0
}

// mirror notes the parameters that are repeated in headers.
func (t *toolSchema) mirror(params []mirror.Param) {
	t.mirrored = params
	for _, p := range params {
		t.size += p.Size()
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
