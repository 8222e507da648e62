package e2e

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
)

// useSubscriptions watches two resources, and then one. When a modern client changes the set of watched resources, it
// opens a new subscription before it ends the old one. Meanwhile it may receive a notification twice, or for a resource
// that it no longer watches.
func useSubscriptions(p *pair) {
	const left, kept, other = "demo://text", "demo://blob", "demo://several"
	err := p.c.SubscribeResource(p.ctx, left)
	if p.silent() {
		if !errors.Is(err, mcpclient.ErrUnsupported) {
			p.Errorf("want no subscription without a session, got %v", err)
		}
		return
	}
	if err = errors.Join(err, p.c.SubscribeResource(p.ctx, kept)); err != nil {
		p.Fatal(err)
	}
	p.says("touch", named{other}, "touched")
	p.equal("updates", []string{left}, p.touch(left))
	p.equal("updates", []string{kept}, slices.DeleteFunc(p.touch(kept), func(uri string) bool { return uri == left }))
	if err := p.c.UnsubscribeResource(p.ctx, left); err != nil {
		p.Fatal(err)
	}
	until(p.T, p.ctx, "there are updates of one resource only", func() bool {
		p.says("touch", named{left}, "touched")
		return slices.Equal(p.touch(kept), []string{kept})
	})
	if err := p.c.UnsubscribeResource(p.ctx, kept); err != nil {
		p.Fatal(err)
	}
}

// touch changes a resource, and returns the updates that the client receives, up to the update of this resource.
func (p *pair) touch(uri string) (heard []string) {
	p.Helper()
	p.says("touch", named{uri}, "touched")
	for !slices.Contains(heard, uri) {
		heard = append(heard, next(p.T, p.ctx, "an update of "+uri, p.user.updated))
	}
	return heard
}

// useListChanges makes the server's lists grow. After the notification, a client ignores its cache and requests the
// list again.
func useListChanges(p *pair) {
	p.names() // fills the cache
	for _, changed := range p.user.changed {
		drain(changed)
	}
	extra, err := p.grow()
	if err != nil {
		p.Fatal(err)
	}
	if p.silent() {
		p.equal("what there is more", []bool{true, true, true}, p.have(extra))
		return
	}
	for kind, changed := range p.user.changed {
		next(p.T, p.ctx, "word of other "+kind, changed)
	}
	p.equal("what there is more", []bool{true, true, true}, p.have(extra))
	p.says(extra, nil, extra)
}

// grow makes each list grow by one, and returns the name of the new entries.
func (p *pair) grow() (string, error) {
	if p.v < mcp.Version20250618 { // no output schema before this revision
		r, err := p.c.CallTool(p.ctx, "grow", nil)
		if err != nil {
			return "", err
		}
		text := r.Text() // {"name":"extra1"}
		return text[9 : len(text)-2], nil
	}
	got, err := mcpclient.CallToolAs[named](p.ctx, p.c, "grow", nil)
	return got.Name, err
}

// names returns the names of the tools, prompts and resources.
func (p *pair) names() (tools, prompts, resources []string) {
	p.Helper()
	for name := range listed(p, p.c.Tools(p.ctx), func(t *mcp.Tool) string { return t.Name }) {
		tools = append(tools, name)
	}
	for name := range listed(p, p.c.Prompts(p.ctx), func(p *mcp.Prompt) string { return p.Name }) {
		prompts = append(prompts, name)
	}
	for name := range listed(p, p.c.Resources(p.ctx), func(r *mcp.Resource) string { return r.Name }) {
		resources = append(resources, name)
	}
	return tools, prompts, resources
}

func (p *pair) have(name string) []bool {
	p.Helper()
	tools, prompts, resources := p.names()
	return []bool{slices.Contains(tools, name), slices.Contains(prompts, name), slices.Contains(resources, name)}
}

// useCache sends requests with results that can be cached, and requests with results that cannot.
func useCache(p *pair) {
	list := func(options ...mcpclient.CallOption) {
		if _, err := p.c.ListPrompts(p.ctx, nil, options...); err != nil {
			p.Fatal(err)
		}
	}
	read := func(options ...mcpclient.CallOption) {
		if _, err := p.c.ReadResource(p.ctx, "demo://text", options...); err != nil {
			p.Fatal(err)
		}
	}
	for method, ask := range map[string]func(...mcpclient.CallOption){mcp.MethodListPrompts: list,
		mcp.MethodReadResource: read} {
		hit := func() bool {
			ask(mcpclient.WithoutCache())
			before := p.count(method)
			ask()
			return p.count(method) == before
		}
		if !p.modern() {
			if hit() {
				p.Errorf("%s: want the server asked each time", method)
			}
			continue
		}
		// the first try hits, unless a slow machine lets the entry become stale
		until(p.T, p.ctx, method+" is answered from the cache", hit)
		before := p.count(method)
		until(p.T, p.ctx, method+" is asked for again after its time to live", func() bool {
			ask()
			return p.count(method) != before
		})
	}
}

func useLogging(p *pair) {
	heard := func(options ...mcpclient.CallOption) (levels []mcp.LoggingLevel) {
		p.says("log", nil, "logged", options...)
		for {
			m := next(p.T, p.ctx, "a log message", p.user.logged)
			if m.Logger != "full" || string(m.Data) != `{"at":"`+string(m.Level)+`"}` {
				p.Errorf("want the message for its level, got %+v", m)
			}
			if levels = append(levels, m.Level); m.Level == mcp.LevelEmergency {
				return levels
			}
		}
	}
	if !p.modern() {
		p.equal("before a level is set", levels[1:], heard())
	}
	for _, from := range []int{3, 0, 6} {
		err := p.c.SetLogLevel(p.ctx, levels[from])
		if p.silent() {
			p.equal("without a session", levels[1:], heard())
			continue
		}
		if err != nil {
			p.Fatal(err)
		}
		p.equal("from "+string(levels[from]), levels[from:], heard())
	}
	if p.modern() {
		p.equal("for one call", levels[2:], heard(mcpclient.WithLogLevel(levels[2])))
	}
	if err := p.c.SetLogLevel(p.ctx, mcp.LevelCritical); err != nil && !p.silent() {
		p.Fatal(err)
	}
	p.says("broadcast", nil, "sent")
	if p.modern() || p.silent() { // such clients receive only messages that belong to their requests
		heard()
		return
	}
	if m := next(p.T, p.ctx, "a message to everybody", p.user.logged); m.Logger != "everybody" ||
		string(m.Data) != `"hear this"` {
		p.Errorf("want the message to everybody, got %+v", m)
	}
}

func useProgress(p *pair) {
	message := since(p, mcp.Version20250326, "step", "")
	var want, got []*mcp.ProgressParams
	for i := range 3 {
		want = append(want, &mcp.ProgressParams{Progress: float64(i + 1), Total: new(3.0), Message: message})
	}
	report := func(r *mcp.ProgressParams) {
		r.ProgressToken, r.Meta = mcp.ProgressToken{}, nil
		got = append(got, r)
	}
	p.says("progress", number{3}, "done", mcpclient.WithProgress(report))
	p.equal("reports", want, got)
	got = nil
	for r, err := range mcpclient.FollowProgress(p.ctx, func(ctx context.Context, follow mcpclient.CallOption) error {
		_, err := p.c.CallTool(ctx, "progress", number{3}, follow)
		return err
	}) {
		if err != nil {
			p.Fatal(err)
		}
		report(r)
	}
	p.equal("followed", want, got)
}

// useCancellation cancels a call while the server handles it, and expects the handler's context to end. Without a
// session, the notification does not identify the handler.
func useCancellation(p *pair) {
	ctx, cancel := context.WithCancel(p.ctx)
	_, err := p.c.CallTool(ctx, "wait", nil, mcpclient.WithProgress(func(*mcp.ProgressParams) { cancel() }))
	if !errors.Is(err, context.Canceled) {
		p.Errorf("want the call cancelled, got %v", err)
	}
	if p.silent() {
		p.says("release", nil, "released")
		return
	}
	p.says("cancelled", nil, "cancelled")
}

// useHangUp calls a tool that closes its stream before the tool is done. A client that can resume the stream gets the
// rest.
func useHangUp(p *pair) {
	var reports []float64
	closed := p.way.name == "HTTP" && !p.modern()
	p.says("hang_up", nil, fmt.Sprint("closed: ", closed), mcpclient.WithProgress(func(r *mcp.ProgressParams) {
		reports = append(reports, r.Progress)
	}))
	p.equal("reports", []float64{1, 2}, reports)
}
