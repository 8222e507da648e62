package jsonrpc_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/mcpotel/mcpotel/internal/jsonrpc"
)

// verdict returns the result of parsing and checking a whole frame.
func verdict(frame string) string {
	m, err := jsonrpc.Parse([]byte(frame))
	if err == nil {
		err = m.Check()
	}
	if v, ok := errors.AsType[*jsonrpc.Violation](err); ok {
		return v.Reason.String()
	}
	if err != nil {
		return fmt.Sprintf("%T", err)
	}
	id := "none"
	if !m.ID.IsZero() {
		id = string(m.ID.AppendJSON(nil))
	}
	return strings.TrimSpace(fmt.Sprintf("%s %s %s", m.Kind, id, m.Method))
}

func TestHostileFrames(t *testing.T) {
	const head = `{"jsonrpc":"2.0","id":1,"result":`
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for _, tt := range []struct{ name, frame, want string }{
		// Names: compared byte by byte, once each.
		{"duplicate id", `{"jsonrpc":"2.0","id":1,"id":2,"result":{}}`, "duplicate_member"},
		{"duplicate id around the result", `{"jsonrpc":"2.0","id":1,"result":{},"id":1}`, "duplicate_member"},
		{"duplicate result", `{"jsonrpc":"2.0","id":1,"result":{},"result":{}}`, "duplicate_member"},
		{"duplicate result, one not an object", `{"jsonrpc":"2.0","id":1,"result":{},"result":1}`, "duplicate_member"},
		{"duplicate method", `{"jsonrpc":"2.0","method":"a","method":"b"}`, "duplicate_member"},
		{"duplicate params", `{"jsonrpc":"2.0","method":"a","params":{},"params":{}}`, "duplicate_member"},
		{"duplicate jsonrpc", `{"jsonrpc":"2.0","jsonrpc":"2.0","method":"a"}`, "duplicate_member"},
		{"duplicate by escape", `{"jsonrpc":"2.0","id":1,"\u0069d":2,"result":{}}`, "duplicate_member"},
		{"duplicate of an unknown name", `{"jsonrpc":"2.0","x":1,"x":2,"id":1,"result":{}}`, "response 1"},
		{"ID is not id", `{"jsonrpc":"2.0","ID":1,"result":{}}`, "missing_id"},
		{"RESULT is not result", `{"jsonrpc":"2.0","id":1,"RESULT":{}}`, "invalid_envelope"},
		{"Id behind id", `{"jsonrpc":"2.0","id":1,"Id":2,"result":{}}`, "response 1"},
		{"long s in result", "{\"jsonrpc\":\"2.0\",\"id\":1,\"re\u017Fult\":{}}", "invalid_envelope"},
		{"escaped id is id", `{"jsonrpc":"2.0","\u0069d":1,"result":{}}`, "response 1"},
		{"escaped id at the end is id", `{"result":{},"jsonrpc":"2.0","\u0069d":1}`, "response 1"},
		{"id with a NUL is not id", `{"jsonrpc":"2.0","id\u0000":1,"result":{}}`, "missing_id"},
		{"jsonrpc with a space", `{"jsonrpc ":"2.0","id":1,"result":{}}`, "invalid_version"},

		// Bytes: all bytes are checked.
		{"invalid UTF-8 in the result", head + "{\"a\":\"\xff\"}}", "invalid_json"},
		{"invalid UTF-8 in a name", "{\"jsonrpc\":\"2.0\",\"id\":1,\"\xff\":1,\"result\":{}}", "invalid_json"},
		{"encoded surrogate", head + "{\"a\":\"\xed\xa0\x80\"}}", "invalid_json"},
		{"overlong slash", head + "{\"a\":\"\xc0\xaf\"}}", "invalid_json"},
		{"raw control byte", head + "{\"a\":\"\x01\"}}", "invalid_json"},
		{"raw NUL in a string", head + "{\"a\":\"\x00\"}}", "invalid_json"},
		{"NUL between tokens", head + "{}\x00}", "invalid_json"},
		{"NUL behind the frame", head + "{}}\x00", "invalid_json"},
		{"raw newline in a string", head + "{\"a\":\"\n\"}}", "invalid_json"},
		{"unknown escape", head + `{"a":"\q"}}`, "invalid_json"},
		{"short unicode escape", head + `{"a":"\u12"}}`, "invalid_json"},
		{"lone surrogate escape", head + `{"a":"\ud83d"}}`, "response 1"},
		{"leading zero", head + `{"a":01}}`, "invalid_json"},
		{"bare point", head + `{"a":1.}}`, "invalid_json"},
		{"NaN", head + `{"a":NaN}}`, "invalid_json"},
		{"huge number is only a number", head + `{"a":1e99999}}`, "response 1"},
		{"single quotes", `{'jsonrpc':'2.0'}`, "invalid_json"},
		{"comment", head + `{}/**/}`, "invalid_json"},
		{"trailing comma", head + `{},}`, "invalid_json"},
		{"trailing comma in the result", head + `{"a":1,}}`, "invalid_json"},
		{"byte order mark", "\ufeff" + head + "{}}", "response 1"},
		{"two byte order marks", "\ufeff\ufeff" + head + "{}}", "invalid_json"},
		{"trailing bytes", head + "{}}x", "invalid_json"},
		{"trailing bytes without a middle", `{"jsonrpc":"2.0","id":1,"method":"a"}x`, "invalid_json"},
		{"two messages", head + "{}}" + head + "{}}", "invalid_json"},
		{"extra bracket", head + "{}}}", "invalid_json"},
		{"mismatched brackets", head + `{"a":[}]}`, "invalid_json"},
		{"two values in the middle", head + `{}{}}`, "invalid_json"},
		{"truncated in the result", head + `{"a":"b`, "invalid_json"},
		{"truncated behind the result", head + `{}`, "invalid_json"},
		{"empty", "", "invalid_json"},
		{"space", " \t", "invalid_json"},
		{"space around everything", " {\t\"jsonrpc\" : \"2.0\" , \"id\" : 1 , \"result\" : { } } \r\n", "response 1"},

		// Depth.
		{"1,022 levels in the result", head + `{"a":` + deep(1022) + `}}`, "response 1"},
		{"1,025 levels", head + `{"a":` + deep(1024) + `}}`, "too_deep"},
		{"100,000 levels", head + `{"a":` + deep(100_000) + `}}`, "too_deep"},
		{"8 Mi levels", head + `{"a":` + deep(8<<20) + `}}`, "too_deep"},
		{"16 Mi of brackets", head + `{"a":` + strings.Repeat("[", 16<<20), "too_deep"},
		{"16 Mi of brackets and nothing else", strings.Repeat("[", 16<<20), "batch"},
		{"8 Mi levels of an unknown member", `{"x":` + deep(8<<20) + `,"jsonrpc":"2.0","id":1,"result":{}}`, "too_deep"},

		// Ids.
		{"2^53+1", `{"jsonrpc":"2.0","id":9007199254740993,"result":{}}`, "response 9007199254740993"},
		{"largest int64", `{"jsonrpc":"2.0","id":9223372036854775807,"result":{}}`, "response 9223372036854775807"},
		{"above int64", `{"jsonrpc":"2.0","id":9223372036854775808,"result":{}}`, "invalid_id"},
		{"smallest int64", `{"jsonrpc":"2.0","id":-9223372036854775808,"result":{}}`, "response -9223372036854775808"},
		{"below int64", `{"jsonrpc":"2.0","id":-9223372036854775809,"result":{}}`, "invalid_id"},
		{"zero", `{"jsonrpc":"2.0","id":0,"result":{}}`, "response 0"},
		{"minus zero", `{"jsonrpc":"2.0","id":-0,"result":{}}`, "response 0"},
		{"1.5", `{"jsonrpc":"2.0","id":1.5,"result":{}}`, "invalid_id"},
		{"1.0", `{"jsonrpc":"2.0","id":1.0,"result":{}}`, "response 1"},
		{"1e3", `{"jsonrpc":"2.0","id":1e3,"result":{}}`, "response 1000"},
		{"string of digits is a string", `{"jsonrpc":"2.0","id":"42","result":{}}`, `response "42"`},
		{"escaped string", `{"jsonrpc":"2.0","id":"a\u0062\"","result":{}}`, `response "ab\""`},
		{"empty string", `{"jsonrpc":"2.0","id":"","result":{}}`, `response ""`},
		{"boolean id", `{"jsonrpc":"2.0","id":true,"result":{}}`, "invalid_id"},
		{"object id", `{"jsonrpc":"2.0","id":{},"result":{}}`, "invalid_id"},
		{"array id", `{"jsonrpc":"2.0","id":[1],"result":{}}`, "invalid_id"},
		{"null id of a result", `{"jsonrpc":"2.0","id":null,"result":{}}`, "null_id"},
		{"null id of a request", `{"jsonrpc":"2.0","id":null,"method":"a"}`, "null_id"},
		{"no id of an error", `{"jsonrpc":"2.0","error":{"code":1,"message":""}}`, "error none"},
		{"null id of an error", `{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":""}}`, "error none"},
		{"no id of an error", `{"jsonrpc":"2.0","error":{"code":1,"message":""}}`, "error none"},
		{"no id of a result", `{"jsonrpc":"2.0","result":{}}`, "missing_id"},

		// The envelope's shape.
		{"result and error", `{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":""}}`, "mixed_members"},
		{"result and null error", `{"jsonrpc":"2.0","id":1,"result":{},"error":null}`, "invalid_error"},
		{"method and result", `{"jsonrpc":"2.0","id":1,"method":"a","result":{}}`, "mixed_members"},
		{"method behind the result", `{"jsonrpc":"2.0","id":1,"result":{},"method":"a"}`, "mixed_members"},
		{"method and error", `{"jsonrpc":"2.0","id":1,"method":"a","error":{}}`, "mixed_members"},
		{"params and result", `{"jsonrpc":"2.0","id":1,"params":{},"result":{}}`, "mixed_members"},
		{"nothing", `{"jsonrpc":"2.0","id":1}`, "invalid_envelope"},
		{"empty object", `{}`, "invalid_version"},
		{"params without a method", `{"jsonrpc":"2.0","id":1,"params":{}}`, "invalid_envelope"},
		{"no version", `{"id":1,"result":{}}`, "invalid_version"},
		{"version 1.0", `{"jsonrpc":"1.0","id":1,"result":{}}`, "invalid_version"},
		{"version 2.0 as a number", `{"jsonrpc":2.0,"id":1,"result":{}}`, "invalid_version"},
		{"null result", `{"jsonrpc":"2.0","id":1,"result":null}`, "invalid_result"},
		{"array result", `{"jsonrpc":"2.0","id":1,"result":[]}`, "invalid_result"},
		{"string result", `{"jsonrpc":"2.0","id":1,"result":"ok"}`, "invalid_result"},
		{"string error", `{"jsonrpc":"2.0","id":1,"error":"bad"}`, "invalid_error"},
		{"array params", `{"jsonrpc":"2.0","method":"a","params":[1]}`, "invalid_params"},
		{"null params", `{"jsonrpc":"2.0","method":"a","params":null}`, "invalid_params"},
		{"number for a method", `{"jsonrpc":"2.0","id":1,"method":1}`, "invalid_method"},
		{"empty method", `{"jsonrpc":"2.0","id":1,"method":""}`, "invalid_method"},
		{"escaped method", `{"jsonrpc":"2.0","id":1,"method":"a\/b"}`, "request 1 a/b"},
		{"batch", `[{"jsonrpc":"2.0","id":1,"result":{}}]`, "batch"},
		{"string", `"jsonrpc"`, "invalid_envelope"},
		{"number", ` 42 `, "invalid_envelope"},
		{"null", `null`, "invalid_envelope"},

		// Strings that look like the end of something.
		{"envelope inside a string", head + `{"a":"}},\"id\":2}"}}`, "response 1"},
		{"quotes and backslashes at the end", head + `{},"x":"\\\\\"\\"}`, "response 1"},
		{"backslash before the closing quote", head + `{},"x":"\\"}`, "response 1"},
		{"unclosed string that looks closed", head + `{},"x":"\"}`, "invalid_json"},
		{"string over the result's end", head + `{"a":"x},"y":"z"}`, "invalid_json"},
		{"no comma behind the result", head + `{} "x":1}`, "invalid_json"},
		{"no colon behind a name", head + `{},"x"1}`, "invalid_json"},
		{"a name that is no string", head + `{},x:1}`, "invalid_json"},
		{"a malformed number behind", head + `{},"x":1x1}`, "invalid_json"},
		{"unknown scalars behind", head + `{},"x":null,"y":-1.5e3,"z":"s"}`, "response 1"},
		{"unknown object behind", head + `{},"x":{}}`, "response 1"},
		{"unknown array behind", head + `{},"x":[]}`, "response 1"},
		{"unknown object in front", `{"x":{"id":7},"jsonrpc":"2.0","id":1,"result":{}}`, "response 1"},
		{"id behind an unknown object", `{"jsonrpc":"2.0","result":{},"x":{},"id":1}`, "response 1"},
		{"id between the result and an unknown object", `{"jsonrpc":"2.0","result":{},"id":1,"x":{}}`, "response 1"},
		{"second id before an unknown object", head + `{},"id":2,"x":{}}`, "duplicate_member"},
		{"error before an unknown object", head + `{},"error":{},"x":{}}`, "mixed_members"},
		{"method before an unknown object", head + `{},"method":"a","x":{}}`, "mixed_members"},
		{"garbage before an unknown object", head + `{},garbage,"x":{}}`, "invalid_json"},
		{"id of a request before an unknown object", `{"jsonrpc":"2.0","method":"a","params":{},"id":1,"x":{}}`,
			"invalid_envelope"},
	} {
		if got := verdict(tt.frame); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}
