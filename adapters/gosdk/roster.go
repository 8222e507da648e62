package gosdk

import (
	"context"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// rosterPause is the time between two looks at what a server has, for names that it does not have.
const rosterPause = time.Second

// roster is which tools or prompts a server has, so that metrics carry no name that a client made up. The SDK has no
// function for it: the server is asked as a client would ask it, when a name is new, but for made-up names once a
// second.
type roster struct {
	mu     sync.Mutex // guards what follows
	names  map[string]bool
	asked  time.Time     // zero if it may be asked at once
	asking chan struct{} // closed when the answer is here, nil if no goroutine asks
}

// has reports whether the server has a name.
func (r *roster) has(name string, ask func() (map[string]bool, error)) bool {
	known, answer, mine := r.look(name)
	switch {
	case mine:
		r.fill(answer, ask)
	case answer != nil:
		<-answer
	default:
		return known
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.names[name]
}

// look reports whether a name is known. If not, answer is closed when the server has been asked, by the caller if that
// is mine; nil means that it is not to be asked now.
func (r *roster) look(name string) (known bool, answer chan struct{}, mine bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if known = r.names[name]; !known && r.asking == nil && time.Since(r.asked) >= rosterPause {
		r.asked, r.asking, mine = time.Now(), make(chan struct{}), true
	}
	if !known {
		answer = r.asking
	}
	return known, answer, mine
}

// fill asks the server, which may call the user.
func (r *roster) fill(answer chan struct{}, ask func() (map[string]bool, error)) {
	defer close(answer)
	names, err := ask()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asking = nil
	if err == nil {
		r.names = names
	}
}

// changed says that the server may have others.
func (r *roster) changed() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked = time.Time{}
}

// maxPages bounds how often a server is asked for the next page.
const maxPages = 1000

func toolNames(ctx context.Context, s *mcp.ServerSession, next mcp.MethodHandler) (map[string]bool, error) {
	names, params := map[string]bool{}, &mcp.ListToolsParams{}
	for range maxPages {
		res, err := next(ctx, "tools/list", &mcp.ServerRequest[*mcp.ListToolsParams]{Session: s, Params: params})
		page, ok := res.(*mcp.ListToolsResult)
		if err != nil || !ok {
			return nil, err
		}
		for _, t := range page.Tools {
			names[t.Name] = true
		}
		if page.NextCursor == "" {
			break
		}
		params = &mcp.ListToolsParams{Cursor: page.NextCursor}
	}
	return names, nil
}

func promptNames(ctx context.Context, s *mcp.ServerSession, next mcp.MethodHandler) (map[string]bool, error) {
	names, params := map[string]bool{}, &mcp.ListPromptsParams{}
	for range maxPages {
		res, err := next(ctx, "prompts/list", &mcp.ServerRequest[*mcp.ListPromptsParams]{Session: s, Params: params})
		page, ok := res.(*mcp.ListPromptsResult)
		if err != nil || !ok {
			return nil, err
		}
		for _, p := range page.Prompts {
			names[p.Name] = true
		}
		if page.NextCursor == "" {
			break
		}
		params = &mcp.ListPromptsParams{Cursor: page.NextCursor}
	}
	return names, nil
}
