package recording

import (
	"bytes"
	"encoding/json"

	"github.com/mcpotel/mcpotel/mcp"
)

// Reaction is one message of the host, with what the server has done for it. Entry is that message.
type Reaction struct {
	*Entry
	// Steps are what came of it, in order: what the server has sent, the answers of the host to what it was asked, and
	// the answer to the request. Behind that stands what belongs to no request, and came before the host's next message.
	Steps []Step
	Token json.RawMessage // the token of progress of the request, nil for none
}

// Step is one entry of a reaction.
type Step struct {
	*Entry
	By *Reaction // the subscription that it belongs to, if that is another reaction; nil else
}

// Reactions returns what the sessions of a file are made of, in their order.
//
// A message of the server belongs to the request whose token of progress or whose subscription it names. Else it is
// part of the reaction of the latest request that has no answer yet, or else of the host's latest message.
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

// division is a session that is divided into reactions.
type division struct {
	at        int
	reactions []*Reaction
	open      []*Reaction       // requests of the host without an answer, in order
	asked     map[int]*Reaction // by the number of a request of either side
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
			return // to what the server has asked before the host had said anything
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

// close takes a reaction from those that are open, if e answers its request.
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

// owner returns the reaction that a message of the server is part of, nil for none, and the subscription it belongs to.
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

// lookup returns the member at a path, nil for none.
func lookup(raw json.RawMessage, path ...string) json.RawMessage {
	for _, name := range path {
		raw, _ = mcp.Object(raw).Lookup(name)
	}
	return raw
}
