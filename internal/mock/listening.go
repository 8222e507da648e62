package mock

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/mcpotel/mcpotel/internal/recording"
	"github.com/mcpotel/mcpotel/internal/relay"
	"github.com/mcpotel/mcpotel/mcp"
)

// Depending on timing, a host uses one subscription or several for the same events. A subscription that is not in the
// recording is therefore acknowledged for all events that the recorded server has acknowledged.

// filterOf returns the filter in the params of a subscription or of its acknowledgement.
func filterOf(params json.RawMessage) (f mcp.SubscriptionFilter) {
	_, _ = mcp.Object(params).Decode("notifications", &f) // ignores invalid members
	return f
}

// offered returns the union of the acknowledged filters of a session, and whether there is one.
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
	params, _ := json.Marshal(map[string]any{ // never fails for these types
		"_meta": map[string]json.RawMessage{mcp.MetaSubscriptionID: c.id}, "notifications": f,
	})
	_ = p.host.Notify(ctx, relay.Message{Method: mcp.NotificationSubscriptionsAcknowledged, Params: params})
	p.tasks.Go(func() { c.rest(0, 0) })
}

func both(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(s string) bool { return !slices.Contains(b, s) })
}

// subscriber returns an open subscription for a notification, or nil. The caller holds p.mu.
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
		_, _ = mcp.Object(e.Content).Decode(member, &name) // ignores other types
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
