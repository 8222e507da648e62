package mcpserver_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpserver"
)

func TestSchemaCombinesTypeAndRefinements(t *testing.T) {
	type route struct {
		From string `json:"from" keywords:"minLength=1"`
		To   string `json:"to,omitempty"`
	}
	of := mcpserver.SchemaOf[route]
	for _, tt := range []struct {
		refine []string
		want   string
	}{
		{nil, `{"type":"object","properties":{"from":{"type":"string","minLength":1},"to":{"type":"string"}},` +
			`"required":["from"],"additionalProperties":false}`},
		{[]string{`{"properties":{"to":{"enum":["Rome"],"type":null}},"required":null}`,
			` {"dependentRequired":{"to":["from"]}, "additionalProperties": {}} `},
			`{"type":"object","properties":{"from":{"type":"string","minLength":1},"to":{"enum":["Rome"]}},` +
				`"additionalProperties":{},"dependentRequired":{"to":["from"]}}`},
		{[]string{`{"properties":true}`}, ""},
		{[]string{`{"type":"objekt"}`}, ""},
		{[]string{`[]`}, ""},
		{[]string{`null`}, ""},
		{[]string{`{}`, `{`}, ""},
		{[]string{`{} {}`}, ""},
	} {
		got, err := of(tt.refine...)
		switch {
		case tt.want == "" && err == nil:
			t.Errorf("%q: want an error, got %s", tt.refine, got)
		case tt.want != "" && (err != nil || string(got) != tt.want):
			t.Errorf("%q:\nwant %s\n got %s, %v", tt.refine, tt.want, got, err)
		}
	}
	if got, err := mcpserver.SchemaOf[any](); err != nil || string(got) != "{}" {
		t.Errorf("any: want {}, got %s, %v", got, err)
	}
	if _, err := mcpserver.SchemaOf[chan int](); err == nil {
		t.Error("a channel has no schema")
	}
}

type patience struct {
	Wait  time.Duration   `json:"wait" keywords:"minimum=0,default=1500"`
	Steps []time.Duration `json:"steps,omitempty"`
	Mood  string          `json:"mood" keywords:"enum=calm|keen,default=calm"`
}

func givenBack(_ context.Context, in patience) (patience, error) { return in, nil }

// TestArgumentsDecodeDefaultsAndDurations calls a tool that returns its arguments.
func TestArgumentsDecodeDefaultsAndDurations(t *testing.T) {
	for _, w := range everyWay(mcp.Version20260728) {
		t.Run(w.String(), func(t *testing.T) {
			s := mcpserver.New(mcp.Implementation{Name: "s", Version: "1"}, nil)
			must(t, mcpserver.AddTool(s, &mcp.Tool{Name: "wait"}, givenBack))
			c := connect(t, s, w, mcpclient.Options{})
			for _, tt := range []struct {
				arguments any
				want      string
			}{
				{json.RawMessage(`{}`), `{"wait":1500,"mood":"calm"}`},
				{patience{2 * time.Second, []time.Duration{time.Microsecond}, "keen"},
					`{"wait":2000000000,"steps":[1000],"mood":"keen"}`},
				{json.RawMessage(`{"wait":-1}`), ""},
				{json.RawMessage(`{"mood":"sad"}`), ""},
				{json.RawMessage(`{"steps":null}`), ""},
			} {
				r, err := c.CallTool(t.Context(), "wait", tt.arguments)
				if err != nil {
					t.Fatal(err)
				}
				if tt.want == "" {
					if !r.IsError {
						t.Errorf("%v: want the arguments refused, got %s", tt.arguments, r.StructuredContent)
					}
					continue
				}
				var out patience
				if err := r.Decode(&out); err != nil || string(r.StructuredContent) != tt.want {
					t.Errorf("%v: want %s, got %s, %v", tt.arguments, tt.want, r.StructuredContent, err)
				}
				typed, err := mcpclient.CallToolAs[patience](t.Context(), c, "wait", tt.arguments)
				if err != nil || typed.Wait != out.Wait {
					t.Errorf("%v: want a wait of %v, got %v, %v", tt.arguments, out.Wait, typed.Wait, err)
				}
			}
			tools, err := c.ListTools(t.Context(), nil)
			if err != nil || strings.Contains(string(tools.Tools[0].InputSchema), "null") {
				t.Errorf("want a schema without null, got %s, %v", tools.Tools[0].InputSchema, err)
			}
		})
	}
}
