package jsonrpc

import "github.com/mcpotel/mcpotel/internal/jsonscan"

// member is an envelope member that the protocol defines.
type member uint8

const (
	unknown member = iota
	version
	id
	method
	params
	result
	failure
)

// memberNamed returns the member with the name, compared byte by byte, or unknown.
func memberNamed(name []byte) member {
	switch string(name) {
	case "jsonrpc":
		return version
	case "id":
		return id
	case "method":
		return method
	case "params":
		return params
	case "result":
		return result
	case "error":
		return failure
	}
	return unknown
}

// envelope collects the members of one message, in any order.
type envelope struct {
	seen       jsonscan.Seen
	id         ID
	nullID     bool
	method     string
	start, end int // bounds of the params, result or error in the frame
}

func (e *envelope) has(m member) bool { return e.seen>>m&1 != 0 }

// add stores the member m, whose value is frame[start:end]. It returns the rule that the member breaks, or 0. The value
// must be valid JSON or start with the opening bracket of an object; add reads nothing behind that bracket.
func (e *envelope) add(frame []byte, m member, start, end int) Reason {
	if m == unknown {
		return 0
	}
	if e.seen.Again(uint(m)) {
		if m == id {
			e.id = ID{} // neither of the two ids is certain
		}
		return DuplicateMember
	}
	switch m {
	case version:
		if string(frame[start:end]) != `"2.0"` {
			return InvalidVersion
		}
	case id:
		return e.addID(frame[start:end])
	case method:
		return e.addMethod(frame[start:end])
	default:
		e.start, e.end = start, end
		if frame[start] != '{' {
			return notObject[m]
		}
	}
	return 0
}

var notObject = [...]Reason{params: InvalidParams, result: InvalidResult, failure: InvalidError}

func (e *envelope) addID(raw []byte) Reason {
	if raw[0] == 'n' {
		e.nullID = true
		return 0
	}
	var ok bool
	if e.id, ok = ParseID(raw); !ok {
		e.id = ID{}
		return InvalidID
	}
	return 0
}

func (e *envelope) addMethod(raw []byte) Reason {
	name, ok := methodName(raw)
	if !ok || name == "" {
		return InvalidMethod
	}
	e.method = name
	return 0
}

// methodName returns the method that raw, a JSON string, encodes. Frequent methods cost no allocation.
func methodName(raw []byte) (string, bool) {
	switch string(raw) {
	case `"tools/call"`:
		return "tools/call", true
	case `"tools/list"`:
		return "tools/list", true
	case `"resources/read"`:
		return "resources/read", true
	case `"prompts/get"`:
		return "prompts/get", true
	case `"ping"`:
		return "ping", true
	case `"notifications/progress"`:
		return "notifications/progress", true
	case `"notifications/message"`:
		return "notifications/message", true
	case `"notifications/cancelled"`:
		return "notifications/cancelled", true
	}
	return Text(raw)
}

// kind returns the kind of the message, or the rule that the members break together.
func (e *envelope) kind() (Kind, Reason) {
	response := 0
	for _, m := range [...]member{result, failure} {
		if e.has(m) {
			response++
		}
	}
	call := e.has(method)
	switch {
	case !e.has(version):
		return 0, InvalidVersion
	case response > 1, response == 1 && (call || e.has(params)):
		return 0, MixedMembers
	case response == 0 && !call:
		return 0, InvalidEnvelope
	case e.has(failure):
		return Error, 0
	case e.nullID:
		return 0, NullID
	case e.has(result):
		if !e.has(id) {
			return 0, MissingID
		}
		return Result, 0
	case e.has(id):
		return Request, 0
	}
	return Notification, 0
}

// message returns the message that consists of the collected members, or the rule that they break.
func (e *envelope) message(frame []byte, checked bool) (Message, Reason) {
	k, r := e.kind()
	return Message{
		Kind: k, ID: e.id, Method: e.method, Frame: frame, size: len(frame), start: e.start, end: e.end, checked: checked,
	}, r
}

// address copies into v the id, the method and the direction of the message, as far as they are known.
func (e *envelope) address(v *Violation) {
	v.ID, v.Method, v.Response = e.id, e.method, e.has(result) || e.has(failure)
}
