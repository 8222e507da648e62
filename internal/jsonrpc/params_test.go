package jsonrpc_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/mcpotel/mcpotel/internal/jsonrpc"
)

func TestParamsFindsNameAndMeta(t *testing.T) {
	const meta = `{"progressToken":"t","traceparent":"00-a","tracestate":"b=1","baggage":"c=2",` +
		`"other":{"traceparent":"no"},` +
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"n"},` +
		`"io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/logLevel":"info",` +
		`"io.modelcontextprotocol/subscriptionId":7}`
	for _, tt := range []struct {
		name, params string
		want         jsonrpc.Params
	}{
		{"none", `{}`, jsonrpc.Params{}},
		{"a tool call", `{"_meta":` + meta + `,"name":"tool","arguments":{"name":"inner","uri":1},"more":[]}`, jsonrpc.Params{
			Meta: []byte(meta), Name: []byte(`"tool"`), Arguments: []byte(`{"name":"inner","uri":1}`),
			ProgressToken: []byte(`"t"`), Traceparent: []byte(`"00-a"`), Tracestate: []byte(`"b=1"`), Baggage: []byte(`"c=2"`),
			ProtocolVersion: []byte(`"2026-07-28"`), ClientInfo: []byte(`{"name":"n"}`), ClientCapabilities: []byte(`{}`),
			LogLevel: []byte(`"info"`), SubscriptionID: []byte(`7`),
		}},
		{"meta last", `{"uri":"file:///a","\u005fmeta":{"progressToken":1}}`, jsonrpc.Params{
			Meta: []byte(`{"progressToken":1}`), URI: []byte(`"file:///a"`), ProgressToken: []byte(`1`)}},
		{"null is absent", `{"_meta":null,"name":null,"arguments":null}`, jsonrpc.Params{}},
		{"null in meta is absent", `{"_meta":{"traceparent":null}}`, jsonrpc.Params{Meta: []byte(`{"traceparent":null}`)}},
		{"types are not judged", `{"name":1,"_meta":{"traceparent":[]}}`,
			jsonrpc.Params{Meta: []byte(`{"traceparent":[]}`), Name: []byte(`1`), Traceparent: []byte(`[]`)}},
		{"an extension member behind", `{"name":"a"},"x":{}`, jsonrpc.Params{Name: []byte(`"a"`)}},
	} {
		m := parse(t, `{"jsonrpc":"2.0","id":1,"method":"m","params":`+tt.params+`}`)
		got, err := m.Params()
		if diff := cmp.Diff(tt.want, got); diff != "" || err != nil || !m.Checked() {
			t.Errorf("%s: error %v, checked %v, params (-want +got)\n%s", tt.name, err, m.Checked(), diff)
		}
		if cap(got.Name) != len(got.Name) || cap(got.Meta) != len(got.Meta) {
			t.Errorf("%s: appending to a part would overwrite its neighbour", tt.name)
		}
	}
	m := parse(t, `{"jsonrpc":"2.0","id":1,"method":"m"}`)
	if got, err := m.Params(); err != nil || !cmp.Equal(got, jsonrpc.Params{}) {
		t.Errorf("message without params: %v, %v, want none", got, err)
	}
}

func TestParamsRefusesAmbiguousOrBrokenInput(t *testing.T) {
	for _, tt := range []struct {
		name, params, want string
		offset             int
	}{
		{"two names", `{"name":"a","name":"b"}`, "duplicate_member", 58},
		{"two metas", `{"_meta":{},"_meta":{}}`, "duplicate_member", 58},
		{"two metas, one null", `{"_meta":null,"_meta":{}}`, "duplicate_member", 60},
		{"two traceparents", `{"_meta":{"traceparent":"a","\u0074raceparent":"b"}}`, "duplicate_member", 74},
		{"meta is a string", `{"_meta":"a"}`, "invalid_params", 55},
		{"broken value", `{"name":tru}`, "invalid_json", 57},
		{"broken meta", `{"_meta":{"a":1,}}`, "invalid_json", 62},
		{"broken arguments", `{"arguments":{"a":01}}`, "invalid_json", 65},
		{"a result behind", `{},"result":{}`, "mixed_members", 0},
	} {
		m := parse(t, `{"jsonrpc":"2.0","id":1,"method":"m","params":`+tt.params+`}`)
		got, err := m.Params()
		v, ok := errors.AsType[*jsonrpc.Violation](err)
		if !ok || v.Reason.String() != tt.want || v.Offset != tt.offset || v.ID != jsonrpc.IntID(1) || v.Method != "m" {
			t.Errorf("%s: %#v, want %s at offset %d with id and method", tt.name, err, tt.want, tt.offset)
		}
		if !cmp.Equal(got, jsonrpc.Params{}) {
			t.Errorf("%s: params %v in spite of the error", tt.name, got)
		}
	}
}

func TestTextReadsAString(t *testing.T) {
	for _, tt := range []struct {
		raw, want string
		ok        bool
	}{
		{`""`, "", true}, {`"a"`, "a", true}, {`"a\u0062\n"`, "ab\n", true}, {`1`, "", false}, {`null`, "", false},
		{``, "", false}, {`"a`, "", false}, {`"a" `, "", false},
	} {
		if got, ok := jsonrpc.Text([]byte(tt.raw)); got != tt.want || ok != tt.ok {
			t.Errorf("Text(%s) = %q, %v, want %q, %v", tt.raw, got, ok, tt.want, tt.ok)
		}
		for _, text := range []string{tt.want, tt.raw, "", "b"} {
			if got := jsonrpc.Is([]byte(tt.raw), text); got != (tt.ok && text == tt.want) {
				t.Errorf("Is(%s, %q) = %v", tt.raw, text, got)
			}
		}
	}
}
