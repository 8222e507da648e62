package mcp

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestUnknownCapabilitiesAreKept(t *testing.T) {
	const text = `{"tools":{"listChanged":true,"x":{"y":[1.0]}},"z":{"w":"\u0041"},"experimental":{"e":{"f":1}},` +
		`"extensions":{"com.example/g":{"h":2}}}`
	var c ServerCapabilities
	if _, err := Decode([]byte(text), &c); err != nil {
		t.Fatal(err)
	}
	want := ServerCapabilities{
		Tools:        &ListCapability{ListChanged: true, Extra: Extra{"x": json.RawMessage(`{"y":[1.0]}`)}},
		Extensions:   map[string]Object{"com.example/g": Object(`{"h":2}`)},
		Experimental: map[string]Object{"e": Object(`{"f":1}`)},
		Extra:        Extra{"z": json.RawMessage(`{"w":"\u0041"}`)},
	}
	if diff := cmp.Diff(want, c); diff != "" {
		t.Errorf("decoded (-want +got):\n%s", diff)
	}
	if c.Prompts != nil || c.Logging != nil {
		t.Error("capabilities that were not declared are there, want nil")
	}
}

func TestDeclaredCapabilitiesAreNotNil(t *testing.T) {
	var c ClientCapabilities
	text := `{"roots":{},"sampling":null,"elicitation":{"form":null,"url":{}},"extensions":{"a/b":null}}`
	if _, err := Decode([]byte(text), &c); err != nil {
		t.Fatal(err)
	}
	if c.Roots == nil || c.Sampling != nil || c.Elicitation.Form != nil || c.Elicitation.URL == nil ||
		c.Extensions["a/b"] != nil {
		t.Errorf("%s decodes to %+v, want objects there and nulls absent", text, c)
	}
	got, err := json.Marshal(ClientCapabilities{Elicitation: &ElicitationCapability{URL: Object{}}})
	if want := `{"elicitation":{"url":{}}}`; err != nil || string(got) != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
}

func TestTasksCapabilityAllowsMethods(t *testing.T) {
	c := &TasksCapability{Requests: map[string]map[string]Object{"tools": {"call": {}},
		"sampling": {"createMessage": nil}}}
	for method, want := range map[string]bool{
		MethodCallTool: true, MethodListTools: false, MethodCreateMessage: false, MethodElicit: false, "tools": false,
		"": false,
	} {
		if got := c.Allows(method); got != want {
			t.Errorf("Allows(%q) = %v, want %v", method, got, want)
		}
	}
	if (*TasksCapability)(nil).Allows(MethodCallTool) {
		t.Error("a capability that was not declared allows tools/call")
	}
}
