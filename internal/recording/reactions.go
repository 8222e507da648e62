package recording

import (
	"bytes"
	"encoding/json"

	"github.com/mcpotel/mcpotel/mcp"
)

// Reaction is one message of the host with the messages that it caused. Entry is the host's message.
type Reaction struct {
	*Entry
	// Steps are the messages that followed, in order: messages of the server, the host's answers to the server's
	// requests, and the answer to the host's request. After the answer come messages that belong to no request and
	// arrived before the host's next message.
	Steps []Step
	Token json.RawMessage // progress token of the request, or nil
}

// Step is one entry of a reaction.
type Step struct {
	*Entry
	By *Reaction // subscription that the entry belongs to, if it is another reaction; else nil
}

// Reactions returns the reactions of each session, in the order of the file.
//
// A message of the server belongs to the request with its progress token or subscription id. Any other message
// belongs to the latest unanswered request, or else to the host's latest message.
func (f *File) Reactions() [][]*Reaction {
	var all [][]*Reaction
	sessions := map[int]*division{}
	for _, e := range f.Entries {
		d := sessions[e.Session]
		if d == nil {
			d = &division{at: len(all), asked: map[int]*Reaction{}}
			sessions[e.Session] = d
			all = append(all, nil)
		}
		d.add(e)
	}
	for _, d := range sessions {
		all[d.at] = d.reactions
	}
	return all
}

// division collects the reactions of one session.
type division struct {
	at        int // index of the session in the result
	reactions []*Reaction
	open      []*Reaction       // unanswered requests of the host, in order
	asked     map[int]*Reaction // reaction that a request of either side belongs to, by request number
}

func (d *division) add(e *Entry) {
	switch {
	case e.From == HostSide && (e.Kind == Request || e.Kind == Notification):
		t := &Reaction{Entry: e, Token: lookup(e.Content, "_meta", "progressToken")}
		d.reactions = append(d.reactions, t)
		if e.Kind == Request {
			d.open = append(d.open, t)
			d.asked[e.Request] = t
		}
	case e.Answers():
		t := d.asked[e.Request]
		if t == nil {
			return // answers a request that the server sent before the host's first message
		}
		t.Steps = append(t.Steps, Step{Entry: e})
		d.close(t, e)
	default:
		t, by := d.owner(e)
		if t == nil {
			return
		}
		t.Steps = append(t.Steps, Step{e, by})
		if e.Kind == Request {
			d.asked[e.Request] = t
		}
	}
}

// close removes a reaction from open if e answers its request.
func (d *division) close(t *Reaction, e *Entry) {
	if t.Kind != Request || t.Request != e.Request {
		return
	}
	for i, o := range d.open {
		if o == t {
			d.open = append(d.open[:i:i], d.open[i+1:]...)
			return
		}
	}
}

// owner returns the reaction that a message of the server belongs to, and its subscription. Both may be nil.
func (d *division) owner(e *Entry) (t, by *Reaction) {
	if len(d.reactions) == 0 {
		return nil, nil
	}
	latest := d.reactions[len(d.reactions)-1]
	token := lookup(e.Content, "progressToken")
	subscription := lookup(e.Content, "_meta", mcp.MetaSubscriptionID)
	var call *Reaction
	for _, o := range d.open {
		switch {
		case token != nil && bytes.Equal(o.Token, token):
			return o, nil
		case o.Method != mcp.MethodSubscriptionsListen:
			call = o
		case subscription != nil && bytes.Equal(o.ID, subscription):
			by = o
		}
	}
	switch {
	case by == latest:
		return by, nil
	case by == nil && call != nil:
		return call, nil
	}
	return latest, by
}

// lookup returns the member at a path, or nil.
func lookup(raw json.RawMessage, path ...string) json.RawMessage {
	for _, name := range path {
		raw, _ = mcp.Object(raw).Lookup(name)
	}
	return raw
}
