package gosdk

import (
	"context"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// rosterPause is the minimum time between two lists for unknown names.
const rosterPause = time.Second

// roster caches the names of a server's tools or prompts, so that metrics contain no names that a client invented. The
// SDK has no function that returns the names, so roster lists them as a client does. An unknown name causes a list, but
// at most once a second, because clients may invent any number of names.
type roster struct {
	mu     sync.Mutex // guards the fields below
	names  map[string]bool
	asked  time.Time     // time of the last list; zero allows a list at once
	asking chan struct{} // closed when the running list is complete; nil if none runs
}

// has reports whether the server has this name.
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

// look reports whether a name is known. If not, and a list is running, answer is closed when the list is complete. If
// mine is set, the caller must make the list. A nil answer means that no list is due.
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

// fill lists the names, which may call user code.
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

// changed records that the server's list may have changed.
func (r *roster) changed() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked = time.Time{}
}

// maxPages bounds the pages of a list.
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
