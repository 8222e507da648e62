package loops

import "time"

// MaxTalks is how many conversations of one client are remembered.
const MaxTalks = 64

// Talk is one conversation.
type Talk struct {
	Ring
	Trial time.Time // from when on a call may go on with the loop all the same
	used  uint64
}

// Talks are the conversations of a client. The zero Talks are ready.
type Talks struct {
	none   Talk             // of calls that belong to no conversation
	all    map[uint64]*Talk // by the hash of the id
	latest *Talk            // that was used, among all; nil before
	id     uint64           // of that
	clock  uint64
}

// Of returns the conversation whose id has this hash, 0 for none. The one that was not used for the longest time makes
// room for a new one.
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
