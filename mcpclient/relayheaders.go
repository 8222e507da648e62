package mcpclient

import (
	"sync"

	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/internal/jsonscan"
	"github.com/mcpotel/mcpotel/internal/mirror"
	"github.com/mcpotel/mcpotel/mcp"
)

// listedTools are the tools in lists of the server that have been passed on. HTTP repeats arguments of them in headers.
type listedTools struct {
	mu    sync.Mutex
	tools toolSet // guarded by mu
}

// learn takes from a result of tools/list what calls need. A tool whose marks break the rules has none.
func (l *listedTools) learn(result []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.tools.tools.len() == 0 && !mirror.MayMark(result) {
		return
	}
	all, _ := mcp.Object(result).Lookup("tools")
	for a := jsonscan.ArrayAt(all, 0); a.Next(); {
		tool := mcp.Object(a.Raw())
		raw, _ := tool.Lookup("name")
		name, _ := jsonrpc.Text(raw)
		schema, _ := tool.Lookup("inputSchema")
		if params, err := mirror.Params(schema); err == nil && len(params) > 0 {
			t := new(toolSchema)
			t.mirror(params)
			l.tools.put(name, t)
		} else {
			l.tools.drop(name)
		}
	}
}

// header returns the headers for a call of a tool, nil for none. Arguments that do not fit are the server's to refuse.
func (l *listedTools) header(tool string, arguments []byte) map[string]string {
	l.mu.Lock()
	params := l.tools.tools.get(tool).params()
	l.mu.Unlock()
	if params == nil {
		return nil
	}
	header, _ := mirroredIn(arguments, params)
	return header
}
