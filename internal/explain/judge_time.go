package explain

import (
	"fmt"
	"time"

	"github.com/mcpotel/mcpotel/internal/unit"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// elapsed returns the duration of the subject as "after 3s".
func (v *view) elapsed() string { return "after " + unit.Duration(v.subject.took) }

// timedOut reports whether the subject timed out.
func (v *view) timedOut() bool { return v.subject.failed && v.subject.reason == names.ErrorTimeout }

// late explains a call whose answer arrived after the timeout.
func late(v *view) *Cause {
	if !v.timedOut() || v.subject.peer == nil {
		return nil
	}
	for i := range v.subject.peer.Recent {
		e := &v.subject.peer.Recent[i]
		if e.Kind == kindDrop && e.Reason == names.DropLateTimeout && e.ID == v.subject.id {
			return meaning{"answered_late", fmt.Sprintf("The server answered, but %s after the call had timed out: it is "+
				"slower "+
				"than the caller allows.", unit.Duration(e.Elapsed)), moreTime}.cause(Certain, v.subject.ended(), v.record(e))
		}
	}
	return nil
}

const moreTime = "raise the limit (WithTimeout, Options.RequestTimeout), request less, or make the tool a task"

// waitsForClient explains a request whose server waits for the client itself, for example for a form that a person
// fills in.
func waitsForClient(v *view) *Cause {
	s := v.subject
	if !v.timedOut() && !s.pending {
		return nil
	}
	for _, o := range v.all {
		if o.side == clientSide && o.kind == kindHandler && !o.start.Before(s.start) && (o.pending || 2*o.took > s.took) {
			return meaning{"waits_for_client", "The server sent the client " + name(o.method) + " and waited for the answer: " +
				"a person, a model or a handler of the client used the time.",
				"answer the server's request, or give the call more time than the person " +
					"needs"}.cause(Certain, s.ended(), o.ended())
		}
	}
	return nil
}

// long is the minimum duration of a slow successful call.
const long = 500 * time.Millisecond

// slow explains a call that spent most of its time in the server.
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
		return meaning{"server_slow", "The server was still working on " + s.name() + " when the call timed out, " +
			v.elapsed() + ".", moreTime}.cause(Certain, s.ended(), far.ended())
	case !s.failed && s.took >= long && 2*far.took > s.took:
		return meaning{"server_slow", fmt.Sprintf("The call succeeded, and %s of its %s were spent in the server.",
			unit.Duration(far.took), unit.Duration(s.took)), "find out where the handler spends its time: with its own " +
			"spans, or a profile"}.
			cause(Certain, s.ended(), far.ended())
	case !s.failed && s.took >= long:
		return meaning{"slow_way", fmt.Sprintf("The call succeeded, but only %s of its %s were spent in the server; the "+
			"rest was spent in the network, in queues and in retries.", unit.Duration(far.took), unit.Duration(s.took)),
			"check the network, proxies that buffer, and the number of concurrent calls"}.cause(Certain, s.ended(), far.ended())
	}
	return nil
}

// answerLost explains a call that the server answered in time, while the client got no answer.
func answerLost(v *view) *Cause {
	if !v.timedOut() || v.far == nil {
		return nil
	}
	return meaning{"answer_lost", "The server ended the request in time, but the answer did not reach the client.",
		"check the path between client and server: a proxy that buffers, a stream that was cut"}.
		cause(Likely, v.subject.ended(), v.far.ended())
}

// unanswered explains a call without an answer and without telemetry of the server.
func unanswered(v *view) *Cause {
	s := v.subject
	switch {
	case s.kind != kindRequest || s.side != clientSide:
		return nil
	case s.pending:
		return meaning{"under_way", "No answer has arrived yet.", "wait, or cancel the call"}.cause(Certain, s.ended())
	case v.timedOut():
		return meaning{"no_answer", "The server did not answer: the call timed out " + v.elapsed() + ". There is no " +
			"telemetry of the server: it hangs, is very slow, or never received the request.",
			"check whether the server runs; " + moreTime}.cause(Likely, s.ended(),
			"the server's telemetry is missing")
	}
	return nil
}

// waited explains a successful call that waited long for the connection.
func waited(v *view) *Cause {
	s := v.subject
	if d := v.waitedReady(); d >= long && !s.failed {
		return meaning{"waited_for_connection", "The call waited " + unit.Duration(d) + " until the client was connected.",
			"connect before the first call; find out why connecting is slow"}.cause(Certain, s.ended(),
			"the span began "+unit.Duration(d)+" before the request was sent")
	}
	return nil
}
