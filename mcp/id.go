package mcp

import "github.com/mcpotel/mcpotel/internal/jsonrpc"

// RequestID is the id of a JSON-RPC request: a string or an integer. IDs are comparable. The number 42 and the string
// "42" differ. The zero RequestID means no id.
type RequestID = jsonrpc.ID

// IntID returns the integer n as an id.
func IntID(n int64) RequestID { return jsonrpc.IntID(n) }

// StringID returns the string s as an id.
func StringID(s string) RequestID { return jsonrpc.StringID(s) }
