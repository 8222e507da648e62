package inspectview

import (
	"context"
	"errors"
	"iter"
	"sync"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
)

// A list is a list of the server. It is kept until the server reports a change, so that a page that updates does not
// send requests.
type list[T any] struct {
	mu    sync.Mutex
	kept  bool
	items []T
	more  bool // the server's list is longer than maxListed
}

// get returns the list. It asks the server if the list is not kept.
func (l *list[T]) get(items iter.Seq2[T, error]) ([]T, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.kept {
		return l.items, nil
	}
	l.items, l.more = nil, false
	for item, err := range items {
		if err != nil {
			return nil, err
		}
		if len(l.items) == maxListed {
			l.more = true
			break
		}
		l.items = append(l.items, item)
	}
	l.kept = true
	return l.items, nil
}

// longer reports whether the server's list is longer than maxListed.
func (l *list[T]) longer() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.more
}

// drop makes the next get ask the server.
func (l *list[T]) drop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kept = false
}

// lists are the lists of a server.
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

var errNotListed = errors.New("the server does not list it")

// tool returns the tool with this name.
func (s *Session) tool(ctx context.Context, name string) (*mcp.Tool, error) {
	all, err := s.lists.tools.get(s.Client().Tools(ctx))
	return named(all, err, name, func(t *mcp.Tool) string { return t.Name })
}

// prompt returns the prompt with this name.
func (s *Session) prompt(ctx context.Context, name string) (*mcp.Prompt, error) {
	all, err := s.lists.prompts.get(s.Client().Prompts(ctx))
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
