package mcpclient

import (
	"slices"
	"sync"

	"github.com/mcpotel/mcpotel/internal/mirror"
	"github.com/mcpotel/mcpotel/internal/schema"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/internal/loops"
)

// Limits of a toolSet, in bytes. Each tool counts with its stored data and toolOverhead, an estimate.
const (
	toolRoom     = 8 << 20          // for all data
	schemaRoom   = toolRoom / 4 * 3 // for all data except names
	toolOverhead = 256
)

// toolSet stores data of tools by name. It shares no memory with the lists that the tools come from. If there is no
// room for all data of a tool, the set stores only the name. If there is no room for the name, the set stores nothing.
type toolSet struct {
	tools   *toolTable // nil if empty
	size    int32      // at most toolRoom
	partial bool       // a name was not stored, because there was no room
}

// toolTable maps names to tools. Most servers have only a few tools; for these, a list takes a fraction of the memory
// of a map.
type toolTable struct {
	list []namedTool            // used for up to fewTools tools
	m    map[string]*toolSchema // nil as long as list is used
}

type namedTool struct {
	name string
	tool *toolSchema
}

const fewTools = 8

// get returns the tool with this name, or nil. t may be nil.
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

// add adds a tool whose name is not in the table yet.
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

// remove removes a tool, which must be in the table.
func (t *toolTable) remove(name string) {
	if t.m != nil {
		delete(t.m, name)
		return
	}
	i := t.index(name)
	t.list = slices.Delete(t.list, i, i+1)
}

// toolSchema holds the data of a tool that its calls need. It is immutable.
type toolSchema struct {
	compile  func() (*schema.Schema, error) // compiles the output schema
	mirrored []mirror.Param
	tasks    mcp.TaskSupport // for a server of 2025-11-25; empty means forbidden
	harmless bool            // the server lists the tool as idempotent or read-only
	traits   loops.Traits    // traits from the tool's hints
	size     int             // in bytes, without the name
}

// simpleTool is shared by all tools without special data.
var simpleTool = &toolSchema{compile: noSchema, tasks: mcp.TaskForbidden}

// nameOnly represents a tool whose data does not fit, so that only its name is stored.
var nameOnly = &toolSchema{}

// params returns the parameters that are repeated in headers. t may be nil.
func (t *toolSchema) params() []mirror.Param {
	if t == nil {
		return nil
	}
	return t.mirrored
}

// expect reserves room for n tools if the set is empty. With 1,000 tools, a map that need not grow saves 5 % of the CPU
// time for their list.
func (s *toolSet) expect(n int) {
	if s.tools == nil && n > fewTools {
		s.tools = &toolTable{m: make(map[string]*toolSchema, min(n, toolRoom/toolOverhead))}
	}
}

// put stores a tool, as far as there is room. It replaces a tool with the same name.
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

// drop removes a tool if the set contains it.
func (s *toolSet) drop(name string) {
	if old := s.tools.get(name); old != nil {
		s.size -= int32(cost(name, old))
		s.tools.remove(name)
	}
}

func cost(name string, t *toolSchema) int { return len(name) + t.size + toolOverhead }

// newToolSchema extracts the data of a tool. If mirrors is true, the data includes the parameters to repeat in headers.
func newToolSchema(t *mcp.Tool, mirrors bool) *toolSchema {
	s := &toolSchema{compile: noSchema, tasks: mcp.TaskForbidden}
	// assign the constants, because the tool's own string would keep the whole frame in memory
	for _, support := range []mcp.TaskSupport{mcp.TaskOptional, mcp.TaskRequired} {
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
		params, _ := mirror.Params(t.InputSchema) // cannot fail: the schema was checked before
		s.mirror(params)
	}
	if t.OutputSchema == nil && s.isSimple() {
		return simpleTool
	}
	return s
}

// isSimple reports whether t has no data other than its output schema.
func (t *toolSchema) isSimple() bool {
	return t.mirrored == nil && t.tasks == mcp.TaskForbidden && !t.harmless && t.traits == 0
}

// mirror sets the parameters that are repeated in headers.
func (t *toolSchema) mirror(params []mirror.Param) {
	t.mirrored = params
	for _, p := range params {
		t.size += p.Size()
	}
}

func noSchema() (*schema.Schema, error) { return nil, nil }

// compiler returns a function that compiles a schema once. size is the memory that the function keeps, in bytes.
func compiler(text []byte) (compile func() (*schema.Schema, error), size int) {
	if len(text) > schema.MaxBytes {
		_, err := schema.Compile(text) // the error does not refer to the text
		return func() (*schema.Schema, error) { return nil, err }, 0
	}
	text = slices.Clone(text)
	return sync.OnceValues(func() (*schema.Schema, error) { return schema.Compile(text) }), len(text)
}
