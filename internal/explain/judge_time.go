package explain

import (
	"fmt"
	"time"

	"github.com/mcpotel/mcpotel/internal/unit"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// howLong says how long the subject went on.
func (v *view) howLong() string { return "after " + unit.Duration(v.subject.took) }

// timedOut reports whether the subject got no answer in time.
func (v *view) timedOut() bool { return v.subject.failed && v.subject.reason == names.ErrorTimeout }

// late judges an answer that came after the call had timed out.
func late(v *view) *Cause {
	if !v.timedOut() || v.subject.peer == nil {
		return nil
	}
	for i := range v.subject.peer.Recent {
		e := &v.subject.peer.Recent[i]
		if e.Kind == kindDrop && e.Reason == names.DropLateTimeout && e.ID == v.subject.id {
			return meaning{"answered_late", fmt.Sprintf("The server answered, %s after the call had timed out: it is slower "+
				"than the caller allows.", unit.Duration(e.Elapsed)), moreTime}.cause(Certain, v.subject.ended(), v.record(e))
		}
	}
	return nil
}

const moreTime = "give the call longer (WithTimeout, Options.RequestTimeout), ask for less, or make the tool a task"

// waitsForClient judges a server that waits for the client itself, such as for a form that a person fills in.
func waitsForClient(v *view) *Cause {
	s := v.subject
	if !v.timedOut() && !s.pending {
		return nil
	}
	for _, o := range v.all {
		if o.side == clientSide && o.kind == kindHandler && !o.start.Before(s.start) && (o.pending || 2*o.took > s.took) {
			return meaning{"waits_for_client", "The server asked the client by " + name(o.method) + ", and that was not " +
				"answered: " +
				"a person, a model or a handler of the client took the time.",
				"answer what is asked, or give the call longer than the person needs"}.cause(Certain, s.ended(), o.ended())
		}
	}
	return nil
}

// long is what a call may take without being slow.
const long = 500 * time.Millisecond

// slow judges a call that was with the server for most of its time.
func slow(v *view) *Cause {
	s, far := v.subject, v.far
	if far == nil || s.kind != kindRequest || s.failed && !v.timedOut() {
		return nil
	}
	switch {
	case s.pending && far.pending:
		return meaning{"under_way", "The server is still working on " + s.name() + ".", "wait, or cancel the call"}.
			cause(Certain, s.ended(), far.ended())
	case v.timedOut() && (far.pending || 2*far.took > s.took):
		return meaning{"server_slow", "The server was still working on " + s.name() + " when the time of the call was " +
			"over, " +
			v.howLong() + ".", moreTime}.cause(Certain, s.ended(), far.ended())
	case !s.failed && s.took >= long && 2*far.took > s.took:
		return meaning{"server_slow", fmt.Sprintf("The call succeeded, and %s of its %s were spent in the server.",
			unit.Duration(far.took), unit.Duration(s.took)), "look at what the handler does: its own spans, or a profile"}.
			cause(Certain, s.ended(), far.ended())
	case !s.failed && s.took >= long:
		return meaning{"slow_way", fmt.Sprintf("The call succeeded, but only %s of its %s were spent in the server: the "+
			"rest "+
			"was on the way, in queues, or in sending again.", unit.Duration(far.took), unit.Duration(s.took)),
			"look at the network, proxies that buffer, and how much is sent at once"}.cause(Certain, s.ended(), far.ended())
	}
	return nil
}

// lostOnTheWay judges a call that the server has answered, as it says, and the client has not heard.
func lostOnTheWay(v *view) *Cause {
	if !v.timedOut() || v.far == nil {
		return nil
	}
	return meaning{"answer_lost", "The server has ended the request in time, and the answer did not reach the client.",
		"look at what stands between the two: a proxy that buffers, a stream that was cut"}.
		cause(Likely, v.subject.ended(), v.far.ended())
}

// unanswered judges a call of which nothing is known but that no answer came.
func unanswered(v *view) *Cause {
	s := v.subject
	switch {
	case s.kind != kindRequest || s.side != clientSide:
		return nil
	case s.pending:
		return meaning{"under_way", "No answer has come yet.", "wait, or cancel the call"}.cause(Certain, s.ended())
	case v.timedOut():
		return meaning{"no_answer", "The server did not answer, " + v.howLong() + ", and nothing is seen of what it did " +
			"with the " +
			"request: it hangs, is very slow, or never got it.",
			"look whether the server runs and what it does; " + moreTime}.cause(Likely, s.ended(),
			"no telemetry of the server is there")
	}
	return nil
}

// waited judges a success that waited for the connection.
func waited(v *view) *Cause {
	s := v.subject
	if d := v.waited(); d >= long && !s.failed {
		return meaning{"waited_for_connection", "The call waited " + unit.Duration(d) + " until the client was connected.",
			"connect before the first call; look at why connecting takes long"}.cause(Certain, s.ended(),
			"the span began "+unit.Duration(d)+" before the request was sent")
	}
	return nil
}
