package inspectview

import (
	"context"
	"errors"
	"iter"
	"sync"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
)

// A list is a list of the server. It is cached until the server reports a change or the client connects again, so that
// the updates of a page send no requests.
type list[T any] struct {
	mu      sync.Mutex
	kept    bool
	epoch   uint64 // number of the connection that returned the list
	changes int    // number of calls of drop
	items   []T
	more    bool      // the server's list is longer than maxListed
	err     error     // why there is no list
	until   time.Time // time until which err is kept; zero for ever
}

// forgetting is the time for which the error of a list is cached.
const forgetting = 10 * time.Second

// get returns the list. It reads the list from the server if no list is cached, or if the cached list is from a
// connection before epoch.
func (l *list[T]) get(epoch uint64, items iter.Seq2[T, error]) ([]T, error) {
	l.mu.Lock()
	if l.kept && l.epoch == epoch && (l.err == nil || l.until.IsZero() || time.Now().Before(l.until)) {
		defer l.mu.Unlock()
		return l.items, l.err
	}
	changes := l.changes
	l.mu.Unlock()
	var all []T
	var failed error
	more := false
	for item, err := range items {
		if err != nil {
			failed = err
			break
		}
		if len(all) == maxListed {
			more = true
			break
		}
		all = append(all, item)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.changes == changes {
		l.kept, l.epoch, l.items, l.more, l.err, l.until = true, epoch, all, more, failed, time.Time{}
		if failed != nil && !errors.Is(failed, mcpclient.ErrUnsupported) {
			l.until = time.Now().Add(forgetting)
		}
	}
	return all, failed
}

// longer reports whether the server's list is longer than maxListed.
func (l *list[T]) longer() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.more
}

// drop discards the cached list, so that the next get reads the list from the server.
func (l *list[T]) drop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kept = false
	l.changes++
}

// lists caches the lists of a server.
type lists struct {
	tools     list[*mcp.Tool]
	resources list[*mcp.Resource]
	templates list[*mcp.ResourceTemplate]
	prompts   list[*mcp.Prompt]
}

// features returns the features that drop lists after changes.
func (l *lists) features() []mcpclient.Feature {
	return []mcpclient.Feature{
		mcpclient.HandleToolListChanged(func(context.Context) { l.tools.drop() }),
		mcpclient.HandleResourceListChanged(func(context.Context) {
			l.resources.drop()
			l.templates.drop()
		}),
		mcpclient.HandlePromptListChanged(func(context.Context) { l.prompts.drop() }),
	}
}

// drop drops all lists.
func (l *lists) drop() {
	l.tools.drop()
	l.resources.drop()
	l.templates.drop()
	l.prompts.drop()
}

// epoch returns the number of the client's connection.
func (s *Session) epoch() uint64 { return s.Client().Status().Epoch }

var errNotListed = errors.New("the server does not list it")

// tool returns the tool with this name.
func (s *Session) tool(ctx context.Context, name string) (*mcp.Tool, error) {
	all, err := s.lists.tools.get(s.epoch(), s.Client().Tools(ctx))
	return named(all, err, name, func(t *mcp.Tool) string { return t.Name })
}

// prompt returns the prompt with this name.
func (s *Session) prompt(ctx context.Context, name string) (*mcp.Prompt, error) {
	all, err := s.lists.prompts.get(s.epoch(), s.Client().Prompts(ctx))
	return named(all, err, name, func(p *mcp.Prompt) string { return p.Name })
}

func named[T any](all []*T, err error, name string, nameOf func(*T) string) (*T, error) {
	if err != nil {
		return nil, err
	}
	for _, item := range all {
		if nameOf(item) == name {
			return item, nil
		}
	}
	return nil, errNotListed
}
