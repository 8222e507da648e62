package mcpclient_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
)

// filled returns the content of a form that the server gets after the user has filled in some fields. It returns the
// error of the call for which the form was requested.
func filled(t *testing.T, schema string, fields map[string]any) (content string, err error) {
	t.Helper()
	accept := func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
		return &mcp.ElicitResult{Action: mcp.ElicitAccept, Content: fields}, nil
	}
	o := &mcpclient.Options{Features: []mcpclient.Feature{mcpclient.HandleElicitation(accept)}}
	ready(t, o, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		done := background(func() error { _, err := c.CallTool(t.Context(), "x", nil); return err })
		v.Answer(v.Expect(mcp.MethodCallTool), inputRequired(
			`{"k":{"method":"elicitation/create","params":{"message":"m","requestedSchema":`+schema+`}}}`, ""))
		synctest.Wait()
		select {
		case err = <-done:
			return
		default:
		}
		f := v.Expect(mcp.MethodCallTool)
		var p struct {
			InputResponses map[string]struct{ Content json.RawMessage }
		}
		if err := json.Unmarshal(f.Params, &p); err != nil {
			t.Fatal(err)
		}
		content = string(p.InputResponses["k"].Content)
		v.Answer(f, fmt.Sprintf(textResult, "ok"))
		err = <-done
	})
	return content, err
}

func TestFormIntegersKeepExactValue(t *testing.T) {
	got, err := filled(t, `{"type":"object","properties":{"n":{"type":"integer"}}}`,
		map[string]any{"n": int64(9007199254740993)})
	if err != nil || got != `{"n":9007199254740993}` {
		t.Errorf("got %s, %v, want 9007199254740993 unchanged", got, err)
	}
}

func TestClientDoesNotModifyCallersCapabilities(t *testing.T) {
	e := &mcp.ElicitationCapability{}
	o := confirming()
	o.Capabilities.Elicitation = e
	ready(t, o, func(t *testing.T, s *script, v *conversation, c *mcpclient.Client) {
		if e.Form != nil {
			t.Errorf("got %+v, want the user's value", e)
		}
	})
}

// formFields is a form with each kind of field in 2025-11-25 and 2026-07-28, with defaults.
const formFields = `{"type":"object","properties":{
	"text":{"type":"string","title":"Text","minLength":1,"maxLength":9,"format":"email","default":"a@b.c"},
	"real":{"type":"number","minimum":0,"maximum":1.5,"default":0.5},
	"whole":{"type":"integer","minimum":1,"default":9007199254740993},
	"yes":{"type":"boolean","default":false},
	"one":{"type":"string","enum":["red","green"],"default":"green"},
	"named":{"type":"string","enum":["r","g"],"enumNames":["Red","Green"],"default":"r"},
	"titled":{"type":"string","oneOf":[{"const":"#F00","title":"Red"},{"const":"#0F0","title":"Green"}],"default":"#0F0"},
	"some":{"type":"array","minItems":1,"maxItems":2,"items":{"type":"string","enum":["a","b","c"]},"default":["a","c"]},
	"titles":{"type":"array","maxItems":2,"items":{"anyOf":[{"const":"x","title":"X"},{"const":"y","title":"Y"}]},"default":["y"]},
	"open":{"type":"string"}
},"required":["text","titled","some"]}`

func TestDefaultsOfEveryKindOfFieldAreFilledIn(t *testing.T) {
	got, err := filled(t, formFields, nil)
	const want = `{"named":"r","one":"green","real":0.5,"some":["a","c"],"text":"a@b.c","titled":"#0F0","titles":["y"],` +
		`"whole":9007199254740993,"yes":false}`
	if err != nil || got != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
	got, err = filled(t, formFields, map[string]any{"some": []string{"b"}, "yes": true, "text": "x"})
	if err != nil || !strings.Contains(got, `"some":["b"]`) || !strings.Contains(got, `"yes":true`) {
		t.Errorf("got %s, %v, want the user's values", got, err)
	}
	asked := mcp.ElicitParams{RequestedSchema: json.RawMessage(formFields)}
	if f, err := asked.Form(); err != nil || len(f.Properties) != 10 || string(f.Properties[3].Default) != "false" ||
		f.Properties[6].OneOf[1].Title != "Green" {
		t.Errorf("the form is %+v, %v", f, err)
	}
}

func TestInvalidFormContentIsNotSent(t *testing.T) {
	for name, content := range map[string]any{
		"text": "", "real": 2, "whole": 0.5, "yes": "yes", "one": "blue", "named": "Red", "titled": "Green",
		"some": []string{}, "titles": []string{"z"}, "open": 1,
	} {
		if got, err := filled(t, formFields, map[string]any{name: content}); err == nil ||
			!strings.Contains(err.Error(), name) {
			t.Errorf("%s of %v: got %s, %v, want an error that names the field", name, content, got, err)
		}
	}
	if _, err := filled(t, formFields, map[string]any{"some": []string{"a", "b", "c"}}); err == nil {
		t.Error("a field with at most two values accepted three")
	}
}

func TestFormPatternUnsupportedByGoIsNotChecked(t *testing.T) {
	const form = `{"type":"object","properties":{"a":{"type":"string","pattern":"^(?=x)","default":"d"},` +
		`"b":{"type":"integer"}}}`
	if got, err := filled(t, form, nil); err != nil || got != `{"a":"d"}` {
		t.Errorf("got %s, %v, want the default", got, err)
	}
	if _, err := filled(t, form, map[string]any{"b": "x"}); err == nil {
		t.Error("the rest is not checked")
	}
	const pattern = `{"type":"object","properties":{"a":{"type":"string"}},"pattern":"(?=x)"}`
	for _, broken := range []string{`{"type":3}`, pattern} {
		if _, err := filled(t, broken, nil); err == nil {
			t.Errorf("%s compiles", broken)
		}
	}
}

func TestDeclinedFormHasNoContent(t *testing.T) {
	for _, test := range []struct {
		action mcp.ElicitAction
		want   string
	}{
		{mcp.ElicitDecline, `"result":{"action":"decline"}`},
		{mcp.ElicitCancel, `"result":{"action":"cancel"}`},
		{mcp.ElicitAccept, `"result":{"action":"accept","content":{"confirmed":true,"note":"secret"}}`},
		{"maybe", `-32603`},
	} {
		h := mcpclient.HandleElicitation(func(context.Context, *mcp.ElicitParams) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: test.action, Content: map[string]any{"note": "secret"}}, nil
		})
		if got := elicited(t, &mcpclient.Options{Features: []mcpclient.Feature{h}}, formRequest); !strings.Contains(got.Raw,
			test.want) {
			t.Errorf("answered %s, want %s", got.Raw, test.want)
		}
	}
}

func TestInvalidFormsAreRefused(t *testing.T) {
	const property = `{"message":"m","requestedSchema":{"type":"object","properties":{"a":%s}}}`
	for params, want := range map[string]string{
		`{"message":"m"}`:                   "requestedSchema is missing",
		fmt.Sprintf(property, `{"type":3}`): "requestedSchema: ",
		fmt.Sprintf(property, `{"type":"string","$ref":"#","default":{}}`): "requestedSchema: not a flat form at " +
			"/properties/a/$ref",
		fmt.Sprintf(property, `{"type":"object"}`): "requestedSchema: not a flat form at /properties/a/type",
		fmt.Sprintf(property, `{"type":"string","pattern":"(?=a)","$ref":"#"}`): "requestedSchema: not a flat form at " +
			"/properties/a/$ref",
		`{"message":"m","requestedSchema":` + doublingForm(40) + `}`: "requestedSchema: not a flat form at /$defs",
	} {
		got := elicited(t, confirming(), `{"method":"elicitation/create","params":`+params+`}`)
		if !strings.Contains(got.Raw, want) || !strings.Contains(got.Raw, "-32602") {
			t.Errorf("answered %s, want -32602 with %q", got.Raw, want)
		}
	}
}

// doublingForm returns a form with nested levels. Each level has two defaults.
func doublingForm(levels int) string {
	var defs strings.Builder
	for i := range levels {
		fmt.Fprintf(&defs, `"%d":{"type":"object","default":{},"properties":{"l":{"$ref":"#/$defs/%d"},`+
			`"r":{"$ref":"#/$defs/%[2]d"}}},`, i, i+1)
	}
	return fmt.Sprintf(`{"type":"object","properties":{"a":{"$ref":"#/$defs/0"}},"$defs":{%s"%d":{"type":"string",`+
		`"default":"d"}}}`, &defs, levels)
}

// elicited returns the client's answer to a request of a server of 2025-11-25.
func elicited(t *testing.T, o *mcpclient.Options, request string) (answer frame) {
	t.Helper()
	bubble(t, o, func(t *testing.T, s *script, c *mcpclient.Client) {
		v := s.next(t).legacy(mcp.Version20251125)
		await(t, c)
		v.Send(`{"jsonrpc":"2.0","id":1,` + request[1:])
		answer = v.Receive()
	})
	return answer
}
