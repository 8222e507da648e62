package mcpclient

import (
	"encoding/json"
	"testing"

	"github.com/mcpotel/mcpotel/internal/schema"
	"github.com/mcpotel/mcpotel/mcp"
)

func TestIntegersOfAFormStayExact(t *testing.T) {
	form, err := schema.Compile(json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	got, err := completeForm(form, map[string]any{"n": int64(9007199254740993)})
	raw, _ := json.Marshal(got)
	if err != nil || string(raw) != `{"n":9007199254740993}` {
		t.Errorf("got %s, %v, want 9007199254740993 as it is", raw, err)
	}
}

func TestTheUsersCapabilitiesAreLeftAlone(t *testing.T) {
	e := &mcp.ElicitationCapability{}
	o := confirming()
	o.Capabilities.Elicitation = e
	ready(t, o, func(t *testing.T, s *script, v *conversation, c *Client) {
		if e.Form != nil {
			t.Errorf("got %+v, want what the user gave", e)
		}
	})
}
