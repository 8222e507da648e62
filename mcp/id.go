package mcp

import "github.com/mcpotel/mcpotel/internal/jsonrpc"

// RequestID is the id of a JSON-RPC request: a string or an integer. IDs are comparable, the number 42 and the string
// "42" are different, and the zero RequestID is none.
type RequestID = jsonrpc.ID

// IntID returns the id that is the integer n.
func IntID(n int64) RequestID { return jsonrpc.IntID(n) }

// StringID returns the id that is the string s.
func StringID(s string) RequestID { return jsonrpc.StringID(s) }
