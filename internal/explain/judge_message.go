package explain

import (
	"fmt"

	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// tooLargeWord is the reason of a violation and of a transition.
const tooLargeWord = "frame_too_large"

// violations are the rules of the protocol that a message can break, and what it was then.
var violations = map[string]string{
	"invalid_json":       "was not JSON: it was cut off, or something that is no message was printed among the messages",
	"too_deep":           "was nested too deeply",
	"batch":              "was a batch, which this revision does not have",
	"invalid_envelope":   "was JSON, and no message of JSON-RPC",
	"invalid_version":    `was of another version of JSON-RPC than 2.0`,
	"duplicate_member":   "had a member twice",
	"mixed_members":      "had members that exclude each other, such as result and error",
	"invalid_id":         "had an id that is neither a string nor an integer",
	"null_id":            "had null as its id",
	"missing_id":         "was an answer without an id",
	"invalid_method":     "had a method that is no text",
	"invalid_params":     "had params that are no object",
	"invalid_result":     "had a result that is not of the shape that the method's result has",
	"invalid_error":      "had an error without code or message",
	"unexpected_request": "was a request, which a server of this revision may not make",
	"foreign_answer":     "was the answer to another request, on the stream of this one",
	"no_answer":          "was no message of MCP at all, such as a page of HTML",
}

// violated is a violation by a message that was received while the subject went on.
func (v *view) violated() *telemetry.FlightEntry {
	return v.entry(func(e *telemetry.FlightEntry) bool {
		return e.Kind == kindViolation && violations[e.Reason] != ""
	})
}

// unreadable judges an answer, or what came instead of one, that broke the protocol.
func unreadable(v *view) *Cause {
	s := v.subject
	if s.reason != names.ErrorViolation && s.reason != names.ErrorTimeout {
		return nil
	}
	const do = "this is a mistake of the server, or of what stands before it: report it with the rule that was broken. " +
		"mcpotel doctor examines the server"
	e := v.violated()
	switch {
	case e != nil && s.reason == names.ErrorViolation:
		return meaning{"message_" + e.Reason, "The server's answer breaks the protocol (" + e.Reason + "): it " +
			violations[e.Reason] + ".", do}.cause(Certain, s.ended(), v.record(e))
	case e != nil:
		return meaning{"message_" + e.Reason, "No answer came in time, but meanwhile a message that breaks the protocol (" +
			e.Reason + "): it " + violations[e.Reason] + ". It was probably meant as the answer.", do}.
			cause(Likely, s.ended(), v.record(e))
	case s.reason == names.ErrorViolation:
		return meaning{"message_invalid", "The server's answer breaks the protocol.", do}.cause(Certain, s.ended())
	}
	return nil
}

// tooLarge judges a message over the limit.
func tooLarge(v *view) *Cause {
	e := v.happened(kindViolation, tooLargeWord)
	if e == nil || v.subject.reason != names.ErrorViolation && v.subject.reason != names.ErrorConnectionLost {
		return nil
	}
	m := meaning{"answer_skipped", fmt.Sprintf("The answer has %d bytes, over the client's limit of %d, and was skipped.",
		e.Size, e.Limit), "ask for less, or raise Options.FrameLimit"}
	if lost := v.happened(kindTransition, tooLargeWord); lost != nil {
		m = meaning{"answer_too_large", fmt.Sprintf("A message of the server has at least %d bytes, over the client's limit "+
			"of %d. That ended the connection, and every call on it.", e.Size, e.Limit),
			"ask for less, or raise Options.FrameLimit; with Options.SkipOversize only the one call fails"}
	}
	return m.cause(Certain, v.subject.ended(), v.record(e))
}

// streak judges a server that says nothing but garbage.
func streak(v *view) *Cause {
	e := v.happened(kindTransition, "invalid_streak")
	if e == nil || !v.subject.failed {
		return nil
	}
	return meaning{"garbage", "The server sent so many messages in a row that are none that the client ended the " +
		"connection.",
		"the server prints something else than messages: a log belongs to its standard error"}.
		cause(Certain, v.subject.ended(), v.record(e))
}

// anotherID judges a call that timed out while an answer came to a request that was never made.
func anotherID(v *view) *Cause {
	e := v.happened(kindDrop, names.DropUnknownID)
	if e == nil || v.subject.reason != names.ErrorTimeout {
		return nil
	}
	return meaning{"answer_of_another_id", "No answer came in time, but meanwhile one to a request that was never made " +
		"(id " + name(e.ID) + "). It was probably meant as the answer to this one.",
		"this is a mistake of the server: it does not answer with the id of the request"}.
		cause(Likely, v.subject.ended(), v.record(e))
}

// duplicate judges an answer that came twice.
func duplicate(v *view) *Cause {
	e := v.happened(kindDrop, names.DropDuplicate)
	if e == nil || v.subject.failed {
		return nil
	}
	return meaning{"duplicate_answer", "The server answered twice. The first answer counted, so the call is not harmed.",
		"this is a mistake of the server, or of what stands before it and sends requests again: a tool may have run twice"}.
		cause(Certain, v.subject.ended(), v.record(e))
}
