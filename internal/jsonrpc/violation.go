package jsonrpc

import (
	"errors"
	"slices"
	"strconv"

	"github.com/mcpotel/mcpotel/internal/jsonscan"
)

// Reason says which rule of the protocol a frame breaks. The set is closed and its words are stable: they are the
// values of the attribute mcp_client.violation.reason.
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
	// DuplicateMember: a member that the protocol knows is there twice.
	DuplicateMember
	// MixedMembers: members that exclude each other, such as result and error, or method and result.
	MixedMembers
	// InvalidID: the id is neither a string nor an integer within int64.
	InvalidID
	// NullID: the id is null where only an error response may have that.
	NullID
	// MissingID: a result without an id.
	MissingID
	// InvalidMethod: the method is not a string, or is empty.
	InvalidMethod
	// InvalidParams: the params are not an object, or params._meta is not.
	InvalidParams
	// InvalidResult: the result is not an object, or not of the shape its method has.
	InvalidResult
	// InvalidError: the error is not an object, or has no integer code or no message.
	InvalidError
	// FrameTooLarge: the frame is above the limit. Not reported by this package, which sees complete frames only, but by
	// the owner of the connection; it is here because the set is closed.
	FrameTooLarge
	// UnexpectedRequest: a request from a server whose revision has none of that direction. Reported by the owner of the
	// connection too.
	UnexpectedRequest
	// ForeignAnswer: the answer to another request, on a stream that belongs to one. Reported by the owner of the
	// connection.
	ForeignAnswer
	// NoAnswer: what came instead of an answer is no message at all, such as a page of HTML. Reported by the owner of the
	// connection.
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

// Reasons returns the words of all reasons, for the published schema.
func Reasons() []string { return slices.Clone(reasons[InvalidJSON:]) }

// String returns the reason's stable word, or _OTHER, the conventions' word for a value outside the set.
func (r Reason) String() string {
	if r < InvalidJSON || int(r) >= len(reasons) {
		return "_OTHER"
	}
	return reasons[r]
}

// Violation is the error for a frame that breaks the protocol.
type Violation struct {
	Reason Reason
	Offset int // in the frame, of what is wrong as nearly as it is known

	// ID and Method are what could be read in spite of it, zero if nothing certain could. If Response is set, the frame
	// has a result or an error: it was meant as the answer to the call with this ID, which gets no other.
	ID       ID
	Method   string
	Response bool

	// Head is how the frame began, of at most 64 bytes, if the frame has been consumed; nil if it is still there to be
	// read.
	Head []byte

	// Cause says more, nil if the reason says all: a [*jsonscan.SyntaxError] or the error of a decoder.
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

// ErrorType is the value of the attribute error.type for an operation that ends with a violation.
func (v *Violation) ErrorType() string { return "protocol_violation" }

// located returns the violation for an error of jsonscan, or of a decoder, whose offset counts from base: invalid JSON,
// unless it is about the kind of a value, which is for the caller to say.
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
