package explain

import (
	"fmt"

	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// tooLargeWord is the reason in entries of kind violation and kind transition.
const tooLargeWord = "frame_too_large"

// violations completes a sentence about a message ("it …") for each rule of the protocol that a message can break.
var violations = map[string]string{
	"invalid_json":       "was not JSON: it was cut off, or a program printed other text between the messages",
	"too_deep":           "was nested too deeply",
	"batch":              "was a batch, which this revision does not allow",
	"invalid_envelope":   "was JSON, but not a JSON-RPC message",
	"invalid_version":    "had another JSON-RPC version than 2.0",
	"duplicate_member":   "had a member twice",
	"mixed_members":      "had members that exclude each other, such as result and error",
	"invalid_id":         "had an id that is neither a string nor an integer",
	"null_id":            "had null as its id",
	"missing_id":         "was an answer without an id",
	"invalid_method":     "had a method that is not a string",
	"invalid_params":     "had params that are not an object",
	"invalid_result":     "had a result that does not match the method's result type",
	"invalid_error":      "had an error without code or message",
	"unexpected_request": "was a request, which a server of this revision may not make",
	"foreign_answer":     "answered another request, on the stream of this request",
	"no_answer":          "was not an MCP message, but for example an HTML page",
}

// Violation completes a sentence about a message ("it …") that has violated the protocol for a reason. It returns an
// empty text for an unknown reason.
func Violation(reason string) string {
	if reason == tooLargeWord {
		return "was larger than the limit of its receiver"
	}
	return violations[reason]
}

// violated returns the first violation by a message that arrived during the subject, or nil.
func (v *view) violated() *telemetry.FlightEntry {
	return v.entry(func(e *telemetry.FlightEntry) bool {
		return e.Kind == kindViolation && violations[e.Reason] != ""
	})
}

// unreadable explains an answer that violates the protocol, or a timeout during which such a message arrived.
func unreadable(v *view) *Cause {
	s := v.subject
	if s.reason != names.ErrorViolation && s.reason != names.ErrorTimeout {
		return nil
	}
	const do = "this is a bug in the server, or in a proxy before it: report it with the name of the violation. " +
		"mcpotel doctor checks the server"
	e := v.violated()
	switch {
	case e != nil && s.reason == names.ErrorViolation:
		return meaning{"message_" + e.Reason, "The server's answer violates the protocol (" + e.Reason + "): it " +
			violations[e.Reason] + ".", do}.cause(Certain, s.ended(), v.record(e))
	case e != nil:
		return meaning{"message_" + e.Reason, "No answer arrived in time, but a message that violates the protocol (" +
			e.Reason + "): it " + violations[e.Reason] + ". It was probably the answer.", do}.
			cause(Likely, s.ended(), v.record(e))
	case s.reason == names.ErrorViolation:
		return meaning{"message_invalid", "The server's answer violates the protocol.", do}.cause(Certain, s.ended())
	}
	return nil
}

// tooLarge explains a message over the frame limit.
func tooLarge(v *view) *Cause {
	e := v.happened(kindViolation, tooLargeWord)
	if e == nil || v.subject.reason != names.ErrorViolation && v.subject.reason != names.ErrorConnectionLost {
		return nil
	}
	m := meaning{"answer_skipped", fmt.Sprintf("The answer has %d bytes, over the client's limit of %d, and was skipped.",
		e.Size, e.Limit), "request less data, or raise Options.Limits.Frame"}
	if lost := v.happened(kindTransition, tooLargeWord); lost != nil {
		m = meaning{"answer_too_large", fmt.Sprintf("A message of the server has at least %d bytes, over the client's limit "+
			"of %d. That ended the connection, and every call on it.", e.Size, e.Limit),
			"request less data, or raise Options.Limits.Frame; with Options.Limits.SkipOversize only the one call fails"}
	}
	return m.cause(Certain, v.subject.ended(), v.record(e))
}

// streak explains a connection that ended after a series of invalid messages.
func streak(v *view) *Cause {
	e := v.happened(kindTransition, "invalid_streak")
	if e == nil || !v.subject.failed {
		return nil
	}
	return meaning{"garbage", "The server sent so many invalid messages in a row that the client closed the " +
		"connection.",
		"the server writes text that is not MCP to its standard output: logs belong on standard error"}.
		cause(Certain, v.subject.ended(), v.record(e))
}

// anotherID explains a timeout during which an answer to an unknown request arrived.
func anotherID(v *view) *Cause {
	e := v.happened(kindDrop, names.DropUnknownID)
	if e == nil || v.subject.reason != names.ErrorTimeout {
		return nil
	}
	return meaning{"answer_of_another_id", "No answer arrived in time, but an answer to a request that the client never " +
		"sent (id " + name(e.ID) + "). It was probably the answer to this request.",
		"this is a bug in the server: its answer must have the id of the request"}.
		cause(Likely, v.subject.ended(), v.record(e))
}

// duplicate reports an answer that arrived twice.
func duplicate(v *view) *Cause {
	e := v.happened(kindDrop, names.DropDuplicate)
	if e == nil || v.subject.failed {
		return nil
	}
	return meaning{"duplicate_answer", "The server answered twice. The client used the first answer, so the call is " +
		"not affected.",
		"this is a bug in the server, or a proxy before it retries requests: a tool may have run twice"}.
		cause(Certain, v.subject.ended(), v.record(e))
}
