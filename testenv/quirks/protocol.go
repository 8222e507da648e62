package quirks

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/mcpotel/mcpotel/mcp"
)

// message has the members of a request or notification that a server reads.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params params          `json:"params"`
}

type params struct {
	ProtocolVersion mcp.Version `json:"protocolVersion"`
	Name            string      `json:"name"`
	Arguments       struct {
		Text string `json:"text"`
	} `json:"arguments"`
	Meta struct {
		ProtocolVersion mcp.Version `json:"io.modelcontextprotocol/protocolVersion"`
	} `json:"_meta"`
}

const discover = "server/discover"

const (
	unsupportedVersion = -32022
	methodNotFound     = -32601
	invalidParams      = -32602
)

// answer returns the answer to a message, or nil for no answer.
type answer func(m *message) []byte

// result returns an answer with these members.
func result(m *message, members string) []byte {
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, members)
}

// failure returns an error answer. Some servers no longer know the id of the request; then id is null.
func failure(id []byte, code int, text string) []byte {
	if id == nil {
		id = []byte("null")
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%q}}`, id, code, text)
}

const (
	info  = `{"name":"quirk","version":"1"}`
	tools = `[{"name":"echo","inputSchema":{"type":"object","properties":{"text":{"type":"string"}}}}]`
)

// legacy returns the answers of a legacy server with the given newest revision.
func legacy(newest mcp.Version) answer {
	versions := []mcp.Version{mcp.Version20251125, mcp.Version20250618, mcp.Version20250326, mcp.Version20241105}
	versions = versions[slices.Index(versions, newest):]
	return func(m *message) []byte {
		switch m.Method {
		case "initialize":
			agreed := newest
			if slices.Contains(versions, m.Params.ProtocolVersion) {
				agreed = m.Params.ProtocolVersion
			}
			return result(m, `{"protocolVersion":"`+string(agreed)+`","capabilities":{"tools":{}},"serverInfo":`+info+`}`)
		case "ping":
			return result(m, `{}`)
		case "tools/list":
			return result(m, `{"tools":`+tools+`}`)
		case "tools/call":
			return result(m, `{"content":[`+textBlock(m)+`]}`)
		}
		return unknown(m)
	}
}

// modern returns the answers of a server that supports only 2026-07-28.
func modern(m *message) []byte {
	const common = `"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":` + info + `}`
	if len(m.ID) > 0 && m.Params.Meta.ProtocolVersion != mcp.Version20260728 {
		if m.Method == "initialize" {
			return failure(m.ID, methodNotFound, "Method not found")
		}
		return failure(m.ID, invalidParams, "Missing protocol version")
	}
	switch m.Method {
	case discover:
		return result(m, `{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"public",`+
			common+`}`)
	case "tools/list":
		return result(m, `{"tools":`+tools+`,"ttlMs":0,"cacheScope":"public",`+common+`}`)
	case "tools/call":
		return result(m, `{"content":[`+textBlock(m)+`],`+common+`}`)
	}
	return unknown(m)
}

func textBlock(m *message) string {
	text, err := json.Marshal(m.Params.Arguments.Text)
	if err != nil {
		panic(err) // encoding a string never fails
	}
	return `{"type":"text","text":` + string(text) + `}`
}

func unknown(m *message) []byte {
	if len(m.ID) == 0 {
		return nil
	}
	return failure(m.ID, methodNotFound, "Method not found")
}
