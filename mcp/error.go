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
// count.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code
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
