package mcpserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpserver"
)

type signup struct {
	Name  string    `json:"name" jsonschema:"your full name"`
	Age   int64     `json:"age,omitzero"`
	Score *float64  `json:"score"`
	Plan  string    `json:"plan"`
	Topic []string  `json:"topics,omitempty"`
	OK    bool      `json:"ok"`
	Since time.Time `json:"since,omitzero"`
}

func TestStructBecomesElicitationForm(t *testing.T) {
	form, err := mcpserver.FormOf[signup]()
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(form)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"type":"object","properties":{"name":{"type":"string","description":"your full name"},` +
		`"age":{"type":"integer"},` +
		`"score":{"type":"number"},"plan":{"type":"string"},"topics":{"type":"array","items":{"type":"string"}},` +
		`"ok":{"type":"boolean"},` +
		`"since":{"type":"string","format":"date-time"}},"required":["name","plan","ok"]}`
	if string(raw) != want {
		t.Errorf("the form is\n%s\nwant\n%s", raw, want)
	}
	for name, form := range map[string]func() (*mcp.FormSchema, error){
		"nested":    mcpserver.FormOf[struct{ A struct{ B int } }],
		"map":       mcpserver.FormOf[map[string]string],
		"map in it": mcpserver.FormOf[struct{ A map[string]string }],
		"anything":  mcpserver.FormOf[struct{ A any }],
		"numbers":   mcpserver.FormOf[struct{ A []int }],
		"lists":     mcpserver.FormOf[struct{ A [][]string }],
		"no fields": mcpserver.FormOf[struct{}],
		"no struct": mcpserver.FormOf[string],
		"channel":   mcpserver.FormOf[struct{ A chan int }],
		"raw":       mcpserver.FormOf[struct{ A json.RawMessage }],
		"pattern": mcpserver.FormOf[struct {
			A string `keywords:"pattern=^a"`
		}],
		"items": mcpserver.FormOf[struct {
			A []string `keywords:"minLength=1"`
		}],
		"enum of numbers": mcpserver.FormOf[struct {
			A int `keywords:"enum=1|2"`
		}],
		"tag": mcpserver.FormOf[struct {
			A string `keywords:"size=1"`
		}],
		"list of files": mcpserver.FormOf[struct{ A []struct{ Name string } }],
	} {
		if form, err := form(); err == nil {
			t.Errorf("%s: got %+v, want an error", name, form)
		}
	}
}

func TestStructTagsBecomeFormSchema(t *testing.T) {
	form, err := mcpserver.FormOf[struct {
		Plan  *string  `json:"plan" keywords:"enum=free|paid"`
		Seats int      `json:"seats" keywords:"minimum=1,maximum=9,default=2"`
		Mail  string   `json:"mail" keywords:"format=email,maxLength=80"`
		Topic []string `json:"topics,omitempty" keywords:"enum=x|y,maxItems=1"`
	}]()
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(form)
	const want = `{"type":"object","properties":{"plan":{"type":"string","enum":["free","paid"]},` +
		`"seats":{"type":"integer","minimum":1,"maximum":9,"default":2},` +
		`"mail":{"type":"string","maxLength":80,"format":"email"},` +
		`"topics":{"type":"array","maxItems":1,"items":{"type":"string","enum":["x","y"]}}},"required":["mail"]}`
	if err != nil || string(raw) != want {
		t.Errorf("the form is\n%s\nwant\n%s, %v", raw, want, err)
	}
}

func TestElicitAsFillsAStruct(t *testing.T) {
	for _, w := range everyWay(mcp.Version20251125) {
		t.Run(w.String(), func(t *testing.T) {
			s := withTool(t, mcpserver.Options{}, "tool",
				func(ctx context.Context, _ *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
					in, action, err := mcpserver.ElicitAs[signup](ctx, "Sign up", func(f *mcp.FormSchema) {
						f.Field("plan").OneOf = []mcp.FormOption{{Const: "a", Title: "A"}, {Const: "b", Title: "B"}}
						f.Field("topics").Items.Enum = []string{"x", "y"}
						f.Field("age").Default = json.RawMessage(`30`)
					})
					if err != nil {
						return nil, err
					}
					return toldBy("%s %+v", action, in)
				})
			answer := `{"action":"accept","content":{"name":"Ada","age":9007199254740993,"plan":"b","topics":["x"],"ok":true}}`
			c := connect(t, s, w,
				able(mcpclient.HandleRequest(mcp.MethodElicit, func(_ context.Context, r *mcpclient.Request) (any, error) {
					return json.RawMessage(answer), nil
				})))
			if got, want := callText(t, c, "tool"), "accept {Name:Ada Age:9007199254740993 Score:<nil> Plan:b Topic:[x] "+
				"OK:true Since:0001-01-01 00:00:00 +0000 UTC}"; got != want {
				t.Errorf("got %q, want %q", got, want)
			}
			answer = `{"action":"decline"}`
			if got := callText(t, c, "tool"); !strings.HasPrefix(got, "decline {Name: ") {
				t.Errorf("got %q, want that the user declined", got)
			}
			answer = `{"action":"accept","content":{"name":"Ada","plan":"c","ok":true}}`
			r, err := c.CallTool(t.Context(), "tool", nil)
			if err == nil && !r.IsError {
				t.Errorf("got %q, want the answer refused", r.Text())
			}
		})
	}
}

func TestNestedFormIsRejected(t *testing.T) {
	for name, schema := range map[string]string{
		"none":           "",
		"no object":      `{"type":"string"}`,
		"no type":        `{"properties":{}}`,
		"nested":         `{"type":"object","properties":{"a":{"type":"object"}}}`,
		"free list":      `{"type":"object","properties":{"a":{"type":"array","items":{"type":"string"}}}}`,
		"no type inside": `{"type":"object","properties":{"a":{}}}`,
		"two types":      `{"type":"object","properties":{"a":{"type":["string","null"]}}}`,
		"a password":     `{"type":"object","properties":{"a":{"type":"string","format":"password"}}}`,
		"a pattern":      `{"type":"object","properties":{"a":{"type":"string","pattern":"x"}}}`,
		"a combination":  `{"type":"object","properties":{"a":{"type":"string"}},"allOf":[{}]}`,
		"a wrong value":  `{"type":"object","properties":{"a":{"type":"string","default":1}}}`,
		"broken":         `{"type":"object","properties":{"a":{"type":"string","minLength":"x"}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := callerOf(t, withTool(t, mcpserver.Options{}, "tool",
					func(ctx context.Context, _ *mcpserver.CallToolRequest) (*mcp.CallToolResult, error) {
						var raw json.RawMessage
						if schema != "" {
							raw = json.RawMessage(schema)
						}
						_, err := mcpserver.RequestFrom(ctx).Elicit(ctx, &mcp.ElicitParams{Message: "m", RequestedSchema: raw})
						if err == nil || errors.Is(err, mcpserver.ErrInputRequired) ||
							!strings.Contains(err.Error(), "requestedSchema: ") {
							t.Errorf("asking ended with %v, want what is wrong with the schema", err)
						}
						return nil, nil
					}), "tool")
				c.tells("", "")
				c.finish()
			})
		})
	}
}
