package mcp

import "github.com/mcpotel/mcpotel/internal/jsonrpc"

// RequestID is the id of a JSON-RPC request: a string or an integer. IDs are comparable. The number 42 and the string
// "42" differ. The zero RequestID means no id.
type RequestID jsonrpc.ID

// IntID returns the integer n as an id.
func IntID(n int64) RequestID { return RequestID(jsonrpc.IntID(n)) }

// StringID returns the string s as an id.
func StringID(s string) RequestID { return RequestID(jsonrpc.StringID(s)) }

// IsZero reports whether there is no id.
func (id RequestID) IsZero() bool { return jsonrpc.ID(id).IsZero() }

// Int returns the integer of the id, or false if the id is not an integer.
func (id RequestID) Int() (int64, bool) { return jsonrpc.ID(id).Int() }

// Text returns the string of the id, or false if the id is not a string.
func (id RequestID) Text() (string, bool) { return jsonrpc.ID(id).Text() }

// String returns the id for people and for attributes: the digits, or the text without quotes. The integer 42 and the
// string "42" look the same. The zero RequestID is the empty string.
func (id RequestID) String() string { return jsonrpc.ID(id).String() }

// MarshalJSON encodes the id as a number or a string, and the zero RequestID as null.
func (id RequestID) MarshalJSON() ([]byte, error) { return jsonrpc.ID(id).MarshalJSON() }

// UnmarshalJSON decodes a number or a string, and null as the zero RequestID. Anything else is an error.
func (id *RequestID) UnmarshalJSON(b []byte) error { return (*jsonrpc.ID)(id).UnmarshalJSON(b) }
