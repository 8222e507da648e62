package mock

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/mcpotel/mcpotel/internal/recording"
	"github.com/mcpotel/mcpotel/internal/relay"
	"github.com/mcpotel/mcpotel/mcp"
)

// A host may listen to the same things in one subscription or in several, which depends on how quick it is. So one that
// is not in the recording is acknowledged, as far as the server has acknowledged what it is for.

// filterOf returns what the params of a subscription or of its acknowledgement name.
func filterOf(params json.RawMessage) (f mcp.SubscriptionFilter) {
	_, _ = mcp.Object(params).Decode("notifications", &f) // as far as it can be read
	return f
}

// offered returns what the subscriptions of a session were acknowledged with, and whether there was one.
func offered(reactions []*recording.Reaction) (all mcp.SubscriptionFilter, any bool) {
	for _, t := range reactions {
		for _, s := range t.Steps {
			if s.Method != mcp.NotificationSubscriptionsAcknowledged {
				continue
			}
			f := filterOf(s.Content)
			all.ToolsListChanged = all.ToolsListChanged || f.ToolsListChanged
			all.PromptsListChanged = all.PromptsListChanged || f.PromptsListChanged
			all.ResourcesListChanged = all.ResourcesListChanged || f.ResourcesListChanged
			all.ResourceSubscriptions = append(all.ResourceSubscriptions, f.ResourceSubscriptions...)
			all.TaskIDs = append(all.TaskIDs, f.TaskIDs...)
			any = true
		}
	}
	return all, any
}

// listen acknowledges a subscription that is not in the recording, and keeps it open.
func (p *player) listen(ctx context.Context, m relay.Message, answer relay.Answer) {
	f := filterOf(m.Params)
	o := &p.s.offered
	f.ToolsListChanged = f.ToolsListChanged && o.ToolsListChanged
	f.PromptsListChanged = f.PromptsListChanged && o.PromptsListChanged
	f.ResourcesListChanged = f.ResourcesListChanged && o.ResourcesListChanged
	f.ResourceSubscriptions = both(f.ResourceSubscriptions, o.ResourceSubscriptions)
	f.TaskIDs = both(f.TaskIDs, o.TaskIDs)
	t := &reaction{Reaction: &recording.Reaction{Entry: &recording.Entry{Kind: recording.Request, Method: m.Method}}}
	c := p.begin(ctx, t, m, answer)
	params, _ := json.Marshal(map[string]any{ // these types always can
		"_meta": map[string]json.RawMessage{mcp.MetaSubscriptionID: c.id}, "notifications": f,
	})
	_ = p.host.Notify(ctx, relay.Message{Method: mcp.NotificationSubscriptionsAcknowledged, Params: params})
	p.tasks.Go(func() { c.rest(0, 0) })
}

func both(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(s string) bool { return !slices.Contains(b, s) })
}

// subscriber returns an open subscription that a notification is for, nil for none. p.mu is held.
func (p *player) subscriber(s recording.Step) *call {
	if c := p.live[s.By]; c != nil {
		return c
	}
	for _, c := range p.live {
		if c.Method == mcp.MethodSubscriptionsListen && wants(&c.wanted, s.Entry) {
			return c
		}
	}
	return nil
}

func wants(f *mcp.SubscriptionFilter, e *recording.Entry) bool {
	about := func(member string) (name string) {
		_, _ = mcp.Object(e.Content).Decode(member, &name) // of another type it is none
		return name
	}
	switch e.Method {
	case mcp.NotificationToolListChanged:
		return f.ToolsListChanged
	case mcp.NotificationPromptListChanged:
		return f.PromptsListChanged
	case mcp.NotificationResourceListChanged:
		return f.ResourcesListChanged
	case mcp.NotificationResourceUpdated:
		return slices.Contains(f.ResourceSubscriptions, about("uri"))
	}
	return slices.Contains(f.TaskIDs, about("taskId"))
}
