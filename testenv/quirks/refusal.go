package quirks

import (
	"fmt"
	"strings"
)

// refusal is an answer to server/discover that means, or should be understood to mean, that the server is a legacy
// server. The refusals are the same over HTTP and stdio.
type refusal struct {
	name   string
	answer answer
}

// statuses returns the HTTP statuses that may accompany the refusal.
func (r refusal) statuses() []int {
	if strings.HasPrefix(r.name, "success") {
		return []int{200}
	}
	return []int{200, 400, 404}
}

// refusals are answers with the request's own id, unless their name says otherwise.
var refusals = []refusal{
	{"method not found", func(m *message) []byte { return failure(m.ID, methodNotFound, "Method not found") }},
	{"code 0", func(m *message) []byte {
		return failure(m.ID, 0, `method "server/discover" is invalid during session initialization`)
	}},
	{"not initialized", func(m *message) []byte { return failure(m.ID, -32002, "Server not initialized") }},
	{"invalid request", func(m *message) []byte { return failure(m.ID, -32600, "Invalid Request") }},
	{"invalid params", func(m *message) []byte { return failure(m.ID, invalidParams, "Invalid request parameters") }},
	{"internal error", func(m *message) []byte { return failure(m.ID, -32603, "Internal error") }},
	{"a code of its own", func(m *message) []byte { return failure(m.ID, 404, "no such method") }},
	{"older versions in the error", func(m *message) []byte {
		return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":"Unsupported protocol version",`+
			`"data":{"supported":["2025-11-25","2025-06-18"],"requested":"2026-07-28"}}}`, m.ID, unsupportedVersion)
	}},
	{"an error without a message", func(m *message) []byte {
		return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601}}`, m.ID)
	}},
	{"an error whose code is a string", func(m *message) []byte {
		return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":"-32601","message":"Method not found"}}`, m.ID)
	}},
	{"success, empty", func(m *message) []byte { return result(m, `{}`) }},
	{"success, null", func(m *message) []byte { return result(m, `null`) }},
	{"success, a list", func(m *message) []byte { return result(m, `[]`) }},
	{"success, only older versions", func(m *message) []byte {
		return result(m, `{"supportedVersions":["2025-11-25","2025-06-18","2025-03-26","2024-11-05"],`+
			`"capabilities":{"tools":{}},`+
			`"resultType":"complete"}`)
	}},
	{"success, no versions", func(m *message) []byte {
		return result(m, `{"capabilities":{"tools":{}},"serverInfo":`+info+`}`)
	}},
}
