package mcp

import (
	"encoding/json"
	"strconv"
)

// Error codes. The protocol defines the ones from -32020 down to -32099; -32000 to -32019 mean what the implementation
// that sends them says, but for [CodeResourceNotFound].
// See https://modelcontextprotocol.io/specification/2026-07-28/basic/index#error-codes.
const (
	CodeParseError     = -32700 // not JSON
	CodeInvalidRequest = -32600 // JSON, but no request
	CodeMethodNotFound = -32601 // unknown method, or a capability the server did not declare
	CodeInvalidParams  = -32602 // also: unknown tool, prompt or task; from 2026-07-28, unknown resource
	CodeInternalError  = -32603

	// CodeResourceNotFound is of 2025-11-25 and earlier. Its data is a [ResourceNotFoundData].
	CodeResourceNotFound = -32002
	// CodeHeaderMismatch says that HTTP headers contradict the body or are missing; from 2026-07-28.
	CodeHeaderMismatch = -32020
	// CodeMissingClientCapability says that the request needs something of the client that it did not declare; from
	// 2026-07-28. Its data is a [MissingClientCapabilityData].
	CodeMissingClientCapability = -32021
	// CodeUnsupportedVersion says that the server does not speak the request's version; from 2026-07-28. Its data is an
	// [UnsupportedVersionData].
	CodeUnsupportedVersion = -32022
	// CodeURLElicitationRequired says that the user has to do something at a URL before the request can be answered; in
	// 2025-11-25 only. Its data is a [URLElicitationRequiredData].
	CodeURLElicitationRequired = -32042
)

// Error is the error that answers a request.
type Error struct {
	Code    int64           `json:"code" mcp:"required"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitzero"` // whatever the sender thinks useful
}

// Error returns the message and the code.
func (e *Error) Error() string {
	return e.Message + " (" + strconv.FormatInt(e.Code, 10) + ")"
}

// Is reports whether target is an [*Error] of the same code, such as [ErrMethodNotFound]. Messages and data do not
// count, but for [ErrResourceNotFound].
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && (t.Code == e.Code || target == ErrResourceNotFound && e.namesResource())
}

// namesResource reports whether the error is the one of 2026-07-28 about a resource that does not exist.
func (e *Error) namesResource() bool {
	if e.Code != CodeInvalidParams {
		return false
	}
	var data ResourceNotFoundData
	_, err := Decode(e.Data, &data)
	return err == nil && data.URI != ""
}

// The errors of JSON-RPC, for [errors.Is], which compares codes. A handler may return one as it
// is, or wrap it; the other end gets the code and the message here, and nothing of what is around it.
// (specification 2026-07-28, basic/index, "Error Codes")
var (
	ErrParse          error = &Error{Code: CodeParseError, Message: "parse error"}
	ErrInvalidRequest error = &Error{Code: CodeInvalidRequest, Message: "invalid request"}
	ErrMethodNotFound error = &Error{Code: CodeMethodNotFound, Message: "method not found"}
	ErrInvalidParams  error = &Error{Code: CodeInvalidParams, Message: "invalid params"}
	ErrInternal       error = &Error{Code: CodeInternalError, Message: "internal error"}
)

// ErrResourceNotFound is a server's answer that a resource does not exist, in the words of any revision, for
// [errors.Is]: the code -32002 until 2025-11-25; from 2026-07-28 -32602, which says this and no other thing when the
// URI comes with it. That it does not match means unknown: a server that sends -32602 need not tell the URI. A handler
// of a server returns ResourceNotFound of package mcpserver instead, which each client gets in the words of its
// revision. (specification 2026-07-28, server/resources, "Error Handling")
var ErrResourceNotFound error = &Error{Code: CodeResourceNotFound, Message: "resource not found"}

// ResourceNotFoundData is the data of an error with [CodeResourceNotFound]. Servers of 2026-07-28 may send it with
// [CodeInvalidParams].
type ResourceNotFoundData struct {
	URI string `json:"uri" mcp:"required"`
}

// MissingClientCapabilityData is the data of an error with [CodeMissingClientCapability].
type MissingClientCapabilityData struct {
	RequiredCapabilities ClientCapabilities `json:"requiredCapabilities"`
}

// UnsupportedVersionData is the data of an error with [CodeUnsupportedVersion].
type UnsupportedVersionData struct {
	Supported []Version `json:"supported" mcp:"required"` // what the server speaks
	Requested Version   `json:"requested"`
}

// URLElicitationRequiredData is the data of an error with [CodeURLElicitationRequired].
type URLElicitationRequiredData struct {
	Elicitations []*ElicitParams `json:"elicitations" mcp:"required"` // all of [ElicitURL], each with an ElicitationID
}
