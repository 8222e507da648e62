package upstream

import (
	"sync"

	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/internal/jsonscan"
	"github.com/mcpotel/mcpotel/internal/mirror"
	"github.com/mcpotel/mcpotel/mcp"
)

// Limits for the remembered tools, in bytes. A tool counts as the bytes of its name and of its repeated parameters,
// plus toolOverhead.
const (
	toolRoom     = 8 << 20
	toolOverhead = 256
)

// tools remembers, from the relayed lists of tools, the tools whose arguments must be repeated in HTTP headers. It is
// safe for concurrent use.
type tools struct {
	mu     sync.Mutex
	byName map[string][]mirror.Param // guarded by mu; the repeated parameters of each tool
	size   int                       // guarded by mu; bytes of byName, at most toolRoom
}

// learn reads the repeated parameters from a result of tools/list. It drops the parameters of a tool if the
// x-mcp-header marks in its schema are invalid, or if there is no room.
func (l *tools) learn(result []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.byName) == 0 && !mirror.MayMark(result) {
		return
	}
	all, _ := mcp.Object(result).Lookup("tools")
	for a := jsonscan.ArrayAt(all, 0); a.Next(); {
		tool := mcp.Object(a.Raw())
		raw, _ := tool.Lookup("name")
		name, _ := jsonrpc.Text(raw)
		schema, _ := tool.Lookup("inputSchema")
		params, _ := mirror.Params(schema)
		l.put(name, params)
	}
}

// put replaces the parameters of a tool.
func (l *tools) put(name string, params []mirror.Param) {
	if before, known := l.byName[name]; known {
		l.size -= cost(name, before)
		delete(l.byName, name)
	}
	if size := cost(name, params); len(params) > 0 && l.size+size <= toolRoom {
		if l.byName == nil {
			l.byName = map[string][]mirror.Param{}
		}
		l.byName[name] = params
		l.size += size
	}
}

func cost(name string, params []mirror.Param) int {
	size := len(name) + toolOverhead
	for i := range params {
		size += params[i].Size()
	}
	return size
}

// header returns the headers for a call of a tool, or nil. If headers cannot repeat an argument, the server rejects the
// call.
func (l *tools) header(tool string, arguments []byte) map[string]string {
	l.mu.Lock()
	params := l.byName[tool]
	l.mu.Unlock()
	if params == nil {
		return nil
	}
	header, _ := mirror.Headers(params, arguments)
	return header
}
