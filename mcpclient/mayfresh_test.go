package mcpclient

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mcpotel/mcpotel/mcp"
)

func TestMayBeFreshDetectsPositiveTTL(t *testing.T) {
	for text, want := range map[string]bool{
		`{"ttlMs":1}`: true,
		`{"tools":[{"name":"Ms\"ttlMs"}],"ttlMs" : 60000,"cacheScope":"public"}`: true,
		"{\"ttlMs\"\r\n\t:\n5}":       true,
		`{"ttlMs":0,"a":{"ttlMs":2}}`: true, // the ttlMs of an inner object; decoding the result shows that it does not count
		`{"ttlMs":0}`:                 false,
		`{"ttlMs":-5}`:                false,
		`{"ttlMs":null}`:              false,
		`{"totalMs":5,"Ms":5}`:        false,
		`{"a":"ttlMs"}`:               false,
		`{"ttlMs":`:                   false,
		`{"ttlMs"`:                    false,
		`{"tools":[]}`:                false,
		``:                            false,
	} {
		if got := mayBeFresh([]byte(text)); got != want {
			t.Errorf("%s: got %v, want %v", text, got, want)
		}
	}
}

func TestFreshResultIsNeverConsideredStale(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ms := rapid.Int64().Draw(t, "ttlMs")
		name := rapid.String().Draw(t, "name")
		text, err := mcp.AppendResult(nil, &mcp.ListToolsResult{
			Tools:     []*mcp.Tool{{Name: name, InputSchema: []byte(`{"Ms":"ttlMs"}`)}},
			CacheHint: mcp.CacheHint{TTLMs: &ms},
		})
		if err != nil {
			t.Fatal(err)
		}
		space := rapid.SampledFrom([]string{"", " ", "\n\t"}).Draw(t, "space")
		text = []byte(strings.ReplaceAll(string(text), `"ttlMs":`, `"ttlMs"`+space+`:`+space))
		if got := mayBeFresh(text); ms > 0 && !got {
			t.Errorf("%s is not copied", text)
		}
	})
}
