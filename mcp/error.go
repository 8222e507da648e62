package mcp

import (
	"encoding/json"
	"strconv"
)

// Error codes. The protocol defines the codes from -32020 down to -32099. Codes from -32000 to -32019 belong to the
// implementation that sends them, except [CodeResourceNotFound]. See
// https://modelcontextprotocol.io/specification/2026-07-28/basic/index#error-codes.
const (
	CodeParseError     = -32700 // not JSON
	CodeInvalidRequest = -32600 // JSON, but not a request
	CodeMethodNotFound = -32601 // unknown method, or a capability that the server did not declare
	CodeInvalidParams  = -32602 // also an unknown tool, prompt or task; from 2026-07-28 also an unknown resource
	CodeInternalError  = -32603

	// CodeResourceNotFound reports a missing resource in revisions until 2025-11-25. Its data is a
	// [ResourceNotFoundData].
	CodeResourceNotFound = -32002
	// CodeHeaderMismatch means that HTTP headers contradict the body or are missing; from 2026-07-28.
	CodeHeaderMismatch = -32020
	// CodeMissingClientCapability means that the request needs a capability that the client did not declare; from
	// 2026-07-28. Its data is a [MissingClientCapabilityData].
	CodeMissingClientCapability = -32021
	// CodeUnsupportedVersion means that the server does not support the request's version; from 2026-07-28. Its data
	// is an [UnsupportedVersionData].
	CodeUnsupportedVersion = -32022
	// CodeURLElicitationRequired means that the server can answer only after the user has finished a task at a URL; in
	// 2025-11-25 only. Its data is a [URLElicitationRequiredData].
	CodeURLElicitationRequired = -32042
)

// Error is the error in the answer to a request.
type Error struct {
	Code    int64           `json:"code" mcp:"required"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitzero"` // additional information from the sender
}

// Error returns the message and the code.
func (e *Error) Error() string {
	return e.Message + " (" + strconv.FormatInt(e.Code, 10) + ")"
}

// Is reports whether target is an [*Error] with the same code, for example [ErrMethodNotFound]. It ignores messages
// and data, except for [ErrResourceNotFound].
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && (t.Code == e.Code || target == ErrResourceNotFound && e.namesResource())
}

// namesResource reports whether the error is the error of 2026-07-28 for a missing resource.
func (e *Error) namesResource() bool {
	if e.Code != CodeInvalidParams {
		return false
	}
	var data ResourceNotFoundData
	_, err := Decode(e.Data, &data)
	return err == nil && data.URI != ""
}

// The errors of JSON-RPC, for [errors.Is], which compares codes. A handler may return or wrap one of them. The peer
// receives only this code and message, without the text of the wrapping error. (specification 2026-07-28,
// basic/index, "Error Codes")
var (
	ErrParse          error = &Error{Code: CodeParseError, Message: "parse error"}
	ErrInvalidRequest error = &Error{Code: CodeInvalidRequest, Message: "invalid request"}
	ErrMethodNotFound error = &Error{Code: CodeMethodNotFound, Message: "method not found"}
	ErrInvalidParams  error = &Error{Code: CodeInvalidParams, Message: "invalid params"}
	ErrInternal       error = &Error{Code: CodeInternalError, Message: "internal error"}
)

// ErrResourceNotFound matches, with [errors.Is], a server's answer that a resource does not exist. It matches in every
// revision: the code is -32002 until 2025-11-25, and -32602 with the resource's URI in the data from 2026-07-28. If it
// does not match, the resource may still be missing, because a server may send -32602 without the URI. Handlers of a
// server return ResourceNotFound of package mcpserver instead, which the server encodes for each client's revision.
// (specification 2026-07-28, server/resources, "Error Handling")
var ErrResourceNotFound error = &Error{Code: CodeResourceNotFound, Message: "resource not found"}

// ResourceNotFoundData is the data of an error with [CodeResourceNotFound]. From 2026-07-28, servers may send it with
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
	Supported []Version `json:"supported" mcp:"required"` // versions that the server supports
	Requested Version   `json:"requested"`
}

// URLElicitationRequiredData is the data of an error with [CodeURLElicitationRequired].
type URLElicitationRequiredData struct {
	// each has the mode [ElicitURL] and an ElicitationID
	Elicitations []*ElicitParams `json:"elicitations" mcp:"required"`
}
