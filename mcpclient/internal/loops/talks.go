package loops

import "time"

// MaxTalks is the number of conversations that a client remembers.
const MaxTalks = 64

// Talk is one conversation.
type Talk struct {
	Ring
	Trial time.Time // from this time on, one call may continue the loop as a trial
	used  uint64
}

// Talks holds the conversations of a client. The zero Talks is ready to use.
type Talks struct {
	none   Talk             // for calls without a conversation
	all    map[uint64]*Talk // by the hash of the conversation's id
	latest *Talk            // most recently used conversation in all; nil before the first
	id     uint64           // key of latest in all
	clock  uint64
}

// Of returns the conversation with this hash of its id, or the conversation for calls without an id if id is 0. A new
// conversation replaces the least recently used one if there are too many.
func (t *Talks) Of(id uint64) *Talk {
	if id == 0 {
		return &t.none
	}
	if t.latest != nil && t.id == id {
		return t.latest
	}
	t.clock++
	talk := t.all[id]
	if talk == nil {
		talk = new(Talk)
		t.makeRoom()
		if t.all == nil {
			t.all = map[uint64]*Talk{}
		}
		t.all[id] = talk
	}
	talk.used, t.latest, t.id = t.clock, talk, id
	return talk
}

func (t *Talks) makeRoom() {
	if len(t.all) < MaxTalks {
		return
	}
	oldest, used := uint64(0), t.clock
	for id, talk := range t.all {
		if talk.used < used {
			oldest, used = id, talk.used
		}
	}
	delete(t.all, oldest)
}
