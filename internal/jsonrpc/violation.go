package jsonrpc

import (
	"errors"
	"slices"
	"strconv"

	"github.com/mcpotel/mcpotel/internal/jsonscan"
)

// Reason names the protocol rule that a frame breaks. The set is closed and its strings are stable: they are the values
// of the attribute mcp_client.violation.reason.
type Reason uint8

const (
	// InvalidJSON: the frame is not one JSON value, or not valid UTF-8.
	InvalidJSON Reason = iota + 1
	// TooDeep: arrays and objects are nested beyond [jsonscan.MaxDepth].
	TooDeep
	// BatchFrame: the frame is an array of messages.
	BatchFrame
	// InvalidEnvelope: the frame is not an object, or is neither a request nor a notification nor a response.
	InvalidEnvelope
	// InvalidVersion: "jsonrpc" is missing or is not "2.0".
	InvalidVersion
	// DuplicateMember: a member that the protocol defines occurs twice.
	DuplicateMember
	// MixedMembers: the frame has members that exclude each other, such as result and error, or method and result.
	MixedMembers
	// InvalidID: the id is neither a string nor an integer within int64.
	InvalidID
	// NullID: the id is null in a message other than an error response.
	NullID
	// MissingID: the frame is a result without an id.
	MissingID
	// InvalidMethod: the method is not a string, or is empty.
	InvalidMethod
	// InvalidParams: the params are not an object, or params._meta is not.
	InvalidParams
	// InvalidResult: the result is not an object, or does not have the shape that its method requires.
	InvalidResult
	// InvalidError: the error is not an object, or has no integer code or no message.
	InvalidError
	// FrameTooLarge: the frame exceeds the limit. The owner of the connection reports this reason; this package sees
	// complete frames only. The reason is here because the set is closed.
	FrameTooLarge
	// UnexpectedRequest: the frame is a request from a server, in a revision without requests from servers. The owner of
	// the connection reports it.
	UnexpectedRequest
	// ForeignAnswer: the frame is the answer to another request, on a stream that belongs to a single request. The owner
	// of the connection reports it.
	ForeignAnswer
	// NoAnswer: the response is not a message at all, for example an HTML page. The owner of the connection reports it.
	NoAnswer
)

var reasons = [...]string{
	InvalidJSON:     "invalid_json",
	TooDeep:         "too_deep",
	BatchFrame:      "batch",
	InvalidEnvelope: "invalid_envelope",
	InvalidVersion:  "invalid_version",
	DuplicateMember: "duplicate_member",
	MixedMembers:    "mixed_members",
	InvalidID:       "invalid_id",
	NullID:          "null_id",
	MissingID:       "missing_id",
	InvalidMethod:   "invalid_method",
	InvalidParams:   "invalid_params",
	InvalidResult:   "invalid_result",
	InvalidError:    "invalid_error",
	FrameTooLarge:   "frame_too_large",

	UnexpectedRequest: "unexpected_request",
	ForeignAnswer:     "foreign_answer",
	NoAnswer:          "no_answer",
}

// Reasons returns the strings of all reasons, for the published schema.
func Reasons() []string { return slices.Clone(reasons[InvalidJSON:]) }

// String returns the reason's stable string, or _OTHER, the semantic conventions' value for anything outside the set.
func (r Reason) String() string {
	if r < InvalidJSON || int(r) >= len(reasons) {
		return "_OTHER"
	}
	return reasons[r]
}

// Violation is the error for a frame that breaks the protocol.
type Violation struct {
	Reason Reason
	Offset int // approximate position of the problem in the frame

	// ID and Method come from the frame, as far as the parser could read them; otherwise they are zero. Response means
	// that the frame has a result or an error, so no other answer to the call with this ID will come.
	ID       ID
	Method   string
	Response bool

	// Head holds the first bytes of the frame, at most 64, if the frame has been consumed; nil if the frame can still be
	// read.
	Head []byte

	// Cause holds the details: a [*jsonscan.SyntaxError] or the error of a decoder. It is nil if only the reason is known.
	Cause error
}

func (v *Violation) Error() string {
	text := "message breaks the protocol (" + v.Reason.String() + ")"
	if v.Reason == InvalidJSON {
		text = "message is not JSON (" + v.Reason.String() + ")"
	}
	if v.Cause != nil {
		return text + ": " + v.Cause.Error()
	}
	return text + " at offset " + strconv.Itoa(v.Offset)
}

// Unwrap returns the cause.
func (v *Violation) Unwrap() error { return v.Cause }

// ErrorType returns the value of the attribute error.type for an operation that ends with a violation.
func (v *Violation) ErrorType() string { return "protocol_violation" }

// located returns the violation for err, an error of jsonscan or of a decoder. Offsets in err count from base. The
// reason is invalid JSON or too deep for a syntax error; otherwise it is zero and the caller sets it.
func located(err error, base int) *Violation {
	v := &Violation{Offset: base, Cause: err}
	if syntax, ok := errors.AsType[*jsonscan.SyntaxError](err); ok {
		v.Reason = InvalidJSON
		if syntax.Reason == jsonscan.TooDeep {
			v.Reason = TooDeep
		}
		v.Offset += syntax.Offset
		if err == error(syntax) {
			v.Cause = &jsonscan.SyntaxError{Offset: v.Offset, Reason: syntax.Reason}
		}
	}
	if mistyped, ok := errors.AsType[*jsonscan.TypeError](err); ok {
		v.Offset += mistyped.Offset
		if err == error(mistyped) {
			v.Cause = &jsonscan.TypeError{Offset: v.Offset, Want: mistyped.Want}
		}
	}
	return v
}
