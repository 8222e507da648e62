package jsonrpc_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/internal/jsonscan/jsontest"
)

func constant(t interface{ Fatal(...any) }, object string) *jsonrpc.Constant {
	c, err := jsonrpc.NewConstant([]byte(object))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestAppendParamsPutsMetaFirst(t *testing.T) {
	full := jsonrpc.Meta{
		Const: constant(t, "{\n\"v\":\"1\" , \"c\":{}}"), ProgressToken: jsonrpc.StringID("p"),
		Traceparent: "00-x", Tracestate: `a="1"`, Baggage: "k=v", User: []byte(`{"u":1}`),
	}
	const fullText = `"v":"1" , "c":{},"progressToken":"p","traceparent":"00-x","tracestate":"a=\"1\"",` +
		`"baggage":"k=v","u":1`
	trace := jsonrpc.Meta{Traceparent: "00-x"}
	others := jsonrpc.Meta{Const: constant(t, `{"c":1}`), Propagated: map[string]string{"c": "no", "z": "1", "b3": "é\n"},
		Declared: []string{"b3", "x-b3-flags"}, User: []byte(`{"z":2,"x-b3-flags":"1","u":1}`)}
	for _, tt := range []struct {
		name   string
		meta   jsonrpc.Meta
		params string
		want   string
	}{
		{"nothing at all", jsonrpc.Meta{}, ``, `{}`},
		{"null", jsonrpc.Meta{}, `null`, `{}`},
		{"params only", jsonrpc.Meta{}, ` { "a" : 1 , "b":[2] } `, `{"a" : 1 , "b":[2]}`},
		{"meta only", trace, ``, `{"_meta":{"traceparent":"00-x"}}`},
		{"meta and empty params", trace, `{ }`, `{"_meta":{"traceparent":"00-x"}}`},
		{"everything", full, `{"a":1}`, `{"_meta":{` + fullText + `},"a":1}`},
		{"everything and the params' own", full, `{"a":1,"_meta":{"m":2},"b":3}`,
			`{"_meta":{` + fullText + `,"m":2},"a":1,"b":3}`},
		{"other propagators' keys and the users'", others, `{"_meta":{"b3":"old","m":2}}`,
			`{"_meta":{"c":1,"b3":"é\n","z":"1","u":1,"m":2}}`},
		{"other propagators' keys alone", jsonrpc.Meta{Propagated: map[string]string{"b3": "0"}}, ``, `{"_meta":{"b3":"0"}}`},
		{"empty constant", jsonrpc.Meta{Const: constant(t, `{}`)}, `{"a":1}`, `{"a":1}`},
		{"empty user metadata is kept", jsonrpc.Meta{User: []byte(`{}`)}, `{"a":1}`, `{"_meta":{},"a":1}`},
		{"null user metadata is none", jsonrpc.Meta{User: []byte(`null`)}, `{"a":1}`, `{"a":1}`},

		{"own meta first", jsonrpc.Meta{}, `{"_meta":{"m":2},"a":1}`, `{"_meta":{"m":2},"a":1}`},
		{"own meta in the middle", jsonrpc.Meta{}, `{"a":1 , "_meta" : {"m":2} , "b":1}`, `{"_meta":{"m":2},"a":1 , "b":1}`},
		{"own meta last", jsonrpc.Meta{}, `{"a":1,"b":2 , "_meta":{"m":2}}`, `{"_meta":{"m":2},"a":1,"b":2}`},
		{"own meta alone", jsonrpc.Meta{}, `{"_meta":{}}`, `{"_meta":{}}`},
		{"own meta by escape", jsonrpc.Meta{}, `{"a":1,"\u005fmeta":{"m":2}}`, `{"_meta":{"m":2},"a":1}`},
		{"own meta is null", trace, `{"_meta":null,"a":1}`, `{"_meta":{"traceparent":"00-x"},"a":1}`},
		{"own meta is null and there is nothing else", jsonrpc.Meta{}, `{"a":1,"_meta":null}`, `{"a":1}`},
		{"meta deeper down is left alone", trace, `{"a":{"_meta":{"traceparent":"1"}}}`,
			`{"_meta":{"traceparent":"00-x"},"a":{"_meta":{"traceparent":"1"}}}`},

		{"trace context is overwritten", trace, `{"_meta":{"traceparent":"1","m":2,"tracestate":"3","baggage":"4"}}`,
			`{"_meta":{"traceparent":"00-x","m":2}}`},
		{"trace context is dropped without one", jsonrpc.Meta{},
			`{"_meta":{"traceparent":"1","tracestate":"3","m":2,"baggage":"4"}}`, `{"_meta":{"m":2}}`},
		{"trace context by escape is dropped", jsonrpc.Meta{}, `{"_meta":{"trace\u0070arent":"1"}}`, `{"_meta":{}}`},
		{"trace context from the user is dropped", jsonrpc.Meta{User: []byte(`{"baggage":"1","u":2}`)}, ``,
			`{"_meta":{"u":2}}`},
		{"progress token is overwritten", jsonrpc.Meta{ProgressToken: jsonrpc.IntID(5)}, `{"_meta":{"progressToken":1}}`,
			`{"_meta":{"progressToken":5}}`},
		{"progress token is kept without one", trace, `{"_meta":{"progressToken":1}}`,
			`{"_meta":{"traceparent":"00-x","progressToken":1}}`},
		{"constants are overwritten", jsonrpc.Meta{Const: constant(t, `{"v":1}`), User: []byte(`{"v":2}`)},
			`{"_meta":{"v":3,"w":4}}`, `{"_meta":{"v":1,"w":4}}`},
		{"a constant goes before everything",
			jsonrpc.Meta{Const: constant(t, `{"progressToken":1,"traceparent":"2","baggage":"3"}`),
				ProgressToken: jsonrpc.IntID(5), Traceparent: "00-x", Baggage: "b"},
			``, `{"_meta":{"progressToken":1,"traceparent":"2","baggage":"3"}}`},
		{"the user goes before the params", jsonrpc.Meta{User: []byte(`{"m":1}`)}, `{"_meta":{"m":2,"\u006d":3}}`,
			`{"_meta":{"m":1}}`},
		{"duplicates of the user's are dropped", jsonrpc.Meta{}, `{"_meta":{"m":1,"m":2,"\u006d":3}}`, `{"_meta":{"m":1}}`},

		{"line breaks become spaces", trace, "{\n\"_meta\":{\"m\":\r\n[1,\n2]}\r,\n\"a\":\n1\n}\n",
			`{"_meta":{"traceparent":"00-x","m":  [1, 2]},"a": 1}`},
		{"escaped line breaks stay", jsonrpc.Meta{}, `{"a":"\n"}`, `{"a":"\n"}`},
		{"a traceparent that needs escapes", jsonrpc.Meta{Traceparent: "\"}\n\xff"}, ``,
			`{"_meta":{"traceparent":"\"}\n` + "\ufffd" + `"}}`},
	} {
		got, err := jsonrpc.AppendParams([]byte("<"), tt.meta, []byte(tt.params))
		if err != nil || string(got) != "<"+tt.want {
			t.Errorf("%s: error %v\n got %s\nwant <%s", tt.name, err, got, tt.want)
		}
	}
}

func TestAppendParamsPreventsInjection(t *testing.T) {
	for _, tt := range []struct{ name, user, params, want string }{
		{"too many brackets", ``, `{"a":1}}`, "params: invalid character '}' at offset 7"},
		{"too few brackets", ``, `{"a":1`, "params: unexpected end of JSON at offset 6"},
		{"two values", ``, `{} {}`, "params: invalid character '{' at offset 3"},
		{"array", ``, `[]`, "params: no object at offset 0"},
		{"string", ``, `"a"`, "params: no object at offset 0"},
		{"space", ``, ` `, "params: unexpected end of JSON at offset 1"},
		{"two metas", ``, `{"_meta":{},"a":1,"_meta":{}}`, `params: member "_meta" occurs twice`},
		{"meta is a string", ``, `{"_meta":"a"}`, "params._meta: no object at offset 0"},
		{"broken meta", ``, `{"_meta":{"a":}}`, "params: invalid character '}' at offset 14"},
		{"user's is an array", `[]`, `{}`, "metadata: no object at offset 0"},
		{"user's has too many brackets", `{}}`, `{}`, "metadata: invalid character '}' at offset 2"},
		{"user's is broken", `{"a":01}`, `{}`, "metadata: invalid character '1' at offset 6"},
	} {
		got, err := jsonrpc.AppendParams([]byte("<"), jsonrpc.Meta{User: []byte(tt.user)}, []byte(tt.params))
		if err == nil || err.Error() != tt.want || string(got) != "<" {
			t.Errorf("%s: %v, %q, want %q and nothing appended", tt.name, err, got, tt.want)
		}
	}
}

func TestEveryUserMemberIsWrittenOnce(t *testing.T) {
	var user, own, want []string
	for i := range 100 {
		user = append(user, fmt.Sprintf(`"u%d":%d`, i, i), fmt.Sprintf(`"u%d":0`, i/2))
		own = append(own, fmt.Sprintf(`"u%d":0`, i), fmt.Sprintf(`"o%d":%d`, i, i))
	}
	for i := range 100 {
		want = append(want, fmt.Sprintf(`"u%d":%d`, i, i))
	}
	for i := range 100 {
		want = append(want, fmt.Sprintf(`"o%d":%d`, i, i))
	}
	got, err := jsonrpc.AppendParams(nil, jsonrpc.Meta{User: []byte("{" + strings.Join(user, ",") + "}")},
		[]byte(`{"_meta":{`+strings.Join(own, ",")+`}}`))
	if err != nil || string(got) != `{"_meta":{`+strings.Join(want, ",")+`}}` {
		t.Errorf("error %v, got %s", err, got)
	}
}

func TestNewConstantRefusesInvalidObjects(t *testing.T) {
	for _, tt := range []struct{ object, want string }{
		{``, "unexpected end of JSON at offset 0"}, {`[]`, "no object at offset 0"},
		{`{"a":1,"\u0061":2}`, `member "a" occurs twice`}, {`{}}`, "invalid character '}' at offset 2"},
	} {
		if _, err := jsonrpc.NewConstant([]byte(tt.object)); err == nil || err.Error() != tt.want {
			t.Errorf("NewConstant(%s): %v, want %s", tt.object, err, tt.want)
		}
	}
}

// checkParams asserts that AppendParams writes one JSON object on one line, with all user members that AppendParams
// does not reserve, and without duplicates of the reserved names.
func checkParams(t interface{ Fatalf(string, ...any) }, meta jsonrpc.Meta, params []byte) {
	line, err := jsonrpc.AppendParams(nil, meta, params)
	if err != nil {
		if len(line) > 0 {
			t.Fatalf("AppendParams(%s): %v, but %q is appended", params, err, line)
		}
		return
	}
	if bytes.ContainsAny(line, "\n\r") {
		t.Fatalf("AppendParams(%s): %q is more than a line", params, line)
	}
	checkOwn(t, meta, line)
	names, values, ok := members(line)
	if !ok {
		t.Fatalf("AppendParams(%s): the oracle refuses %s", params, line)
	}
	metas := valuesOf(names, values, "_meta")
	if len(metas) > 1 || len(metas) == 1 && names[0] != "_meta" {
		t.Fatalf("AppendParams(%s): _meta is not the first and only one in %s", params, line)
	}
	got := map[string]string{}
	if len(metas) == 1 {
		metaNames, metaValues, ok := members(metas[0])
		if !ok {
			t.Fatalf("AppendParams(%s): _meta in %s is no object", params, line)
		}
		for i, name := range metaNames {
			if _, twice := got[name]; twice {
				t.Fatalf("AppendParams(%s): %q is twice in _meta of %s", params, name, line)
			}
			got[name] = string(metaValues[i])
		}
	}
	if want := meta.Traceparent; want == "" {
		for _, name := range []string{"traceparent", "tracestate", "baggage"} {
			if value, ok := got[name]; ok {
				t.Fatalf("AppendParams(%s): %s %s is passed on in %s", params, name, value, line)
			}
		}
	} else if got["traceparent"] != `"`+want+`"` {
		t.Fatalf("AppendParams(%s): traceparent is %s in %s", params, got["traceparent"], line)
	}

	theirNames, theirValues, ok := members(params)
	if !ok {
		return // empty or null
	}
	i := 0
	for k, name := range theirNames {
		if name == "_meta" {
			checkKept(t, theirValues[k], got)
			continue
		}
		for i < len(names) && names[i] == "_meta" {
			i++
		}
		if i == len(names) || names[i] != name || oneLine(values[i]) != oneLine(theirValues[k]) {
			t.Fatalf("AppendParams(%s): member %q is lost or changed in %s", params, name, line)
		}
		i++
	}
}

// checkOwn asserts that AppendOwnRequest gives the same result as AppendRequest for params on one line with _meta
// first.
func checkOwn(t interface{ Fatalf(string, ...any) }, meta jsonrpc.Meta, params []byte) {
	want, err := jsonrpc.AppendRequest(nil, jsonrpc.IntID(1), "m", meta, params)
	if err != nil {
		return // the error is about the user's metadata
	}
	got, err := jsonrpc.AppendOwnRequest(nil, jsonrpc.IntID(1), "m", meta, params)
	if err != nil || string(got) != string(want) {
		t.Fatalf("AppendOwnRequest(%s): %s, %v\nwant %s", params, got, err, want)
	}
}

// checkKept asserts that the members of a user's _meta are in got, if no other source has that name.
func checkKept(t interface{ Fatalf(string, ...any) }, own jsontext.Value, got map[string]string) {
	names, _, ok := members(own)
	if !ok {
		return
	}
	for _, name := range names {
		if name == "traceparent" || name == "tracestate" || name == "baggage" {
			continue
		}
		if _, ok := got[name]; !ok {
			t.Fatalf("member %q of _meta is lost", name)
		}
	}
}

func valuesOf(names []string, values []jsontext.Value, name string) (found []jsontext.Value) {
	for i, n := range names {
		if n == name {
			found = append(found, values[i])
		}
	}
	return found
}

func oneLine(value jsontext.Value) string {
	return strings.NewReplacer("\n", " ", "\r", " ").Replace(string(value))
}

func TestAppendParamsKeepsUserMembers(t *testing.T) {
	c := constant(t, session)
	rapid.Check(t, func(t *rapid.T) {
		meta := jsonrpc.Meta{}
		if rapid.Bool().Draw(t, "traced") {
			meta.Const, meta.Traceparent = c, traceparent
		}
		if rapid.Bool().Draw(t, "user") {
			meta.User = jsontest.Object(choose(t))
		}
		params := jsontest.Object(choose(t))
		checkParams(t, meta, params)
		checkParams(t, meta, jsontest.Mutate(choose(t), params))
	})
}

func FuzzAppendParams(f *testing.F) {
	f.Add([]byte(`{"a":1,"_meta":{"traceparent":"x","m":1}}`), []byte(`{"u":{}}`), true)
	f.Add([]byte("{\n\"_meta\":null}"), []byte(``), false)
	f.Add([]byte(`{"a":1}}`), []byte(`{}`), true)
	f.Add([]byte(``), []byte(`null`), true)
	f.Add([]byte(`{"\u005fmeta":{"\u0074raceparent":1}}`), []byte(`{"traceparent":2}`), false)
	f.Fuzz(func(t *testing.T, params, user []byte, traced bool) {
		meta := jsonrpc.Meta{User: user}
		if traced {
			meta.Const, meta.Traceparent = constant(t, session), traceparent
		}
		checkParams(t, meta, params)
	})
}
