package mcpproxy

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/mcpotel/mcpotel/internal/relay"
	"github.com/mcpotel/mcpotel/mcp"
)

func TestEraMismatchErrorSuggestsTranslation(t *testing.T) {
	const initialize, discover = mcp.MethodInitialize, mcp.MethodDiscover
	for _, test := range []struct {
		introduction string
		code         int64
		want         bool
	}{
		{initialize, mcp.CodeMethodNotFound, true}, {discover, mcp.CodeMethodNotFound, true},
		{initialize, mcp.CodeInvalidRequest, true}, {discover, mcp.CodeInvalidRequest, true},
		{initialize, mcp.CodeInvalidParams, true}, {discover, mcp.CodeInvalidParams, true},
		{initialize, mcp.CodeUnsupportedVersion, true}, {discover, mcp.CodeUnsupportedVersion, false},
		{initialize, mcp.CodeHeaderMismatch, true}, {discover, mcp.CodeHeaderMismatch, false},
		{initialize, mcp.CodeMissingClientCapability, false}, {discover, mcp.CodeMissingClientCapability, false},
		{initialize, 0, false}, {discover, 0, true}, // the answers of SDKs for old servers
		{initialize, -32000, false}, {discover, -32000, true},
		{initialize, mcp.CodeInternalError, false}, {discover, mcp.CodeInternalError, true},
	} {
		object := fmt.Sprintf(`{"vendor":1,"code":%d,"message":"n\u006f","data":{"a":[1]}}`, test.code)
		err := &relay.Error{Object: json.RawMessage(object), Server: &mcp.Error{
			Code: test.code, Message: "no", Data: json.RawMessage(`{"a":[1]}`),
		}}
		got := advised(test.introduction, err).(*relay.Error)
		message := "no"
		if test.want {
			message += advice
			object = fmt.Sprintf(`{"vendor":1,"code":%d,"message":%q,"data":{"a":[1]}}`, test.code, message)
		}
		if string(got.Object) != object || got.Server.Message != message || got.Server.Code != test.code ||
			string(got.Server.Data) != `{"a":[1]}` {
			t.Errorf("%s refused with %d: got %s, %+v, want %s", test.introduction, test.code, got.Object, got.Server, object)
		}
		if err.Server.Message != "no" {
			t.Error("the error of the server itself has changed")
		}
	}
	for _, err := range []error{nil, errors.New("no such program"), errNoServer} {
		if got := advised(discover, err); got != err {
			t.Errorf("%v has become %v", err, got)
		}
	}
}
