package contextcost_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcp/contextcost"
)

// counted holds the number of o200k_base tokens of each list in testdata/lists. See testdata/README.md.
var counted = map[string]int{
	"chrome-devtools":          6148,
	"everything":               1433,
	"filesystem":               1665,
	"git":                      7858,
	"github":                   3548,
	"google-maps":              549,
	"gopls":                    878,
	"gosdk-conformance":        1236,
	"gosdk-everything":         264,
	"gosdk-hello":              46,
	"gosdk-memory":             667,
	"gosdk-sequentialthinking": 209,
	"gosdk-toolschemas":        168,
	"mcp-grafana":              20386,
	"mcpgo":                    43,
	"memory":                   901,
	"playwright":               3764,
	"puppeteer":                540,
	"sdk-json":                 119,
	"sdk-polling":              54,
	"sdk-simple":               487,
	"sdk-sse":                  80,
	"sdk-stateless":            89,
	"sequential-thinking":      865,
	"slack":                    681,
	"tavily":                   1653,
	"typescript":               60,
}

// of returns the size and the text of a server's list of tools.
func of(t *testing.T, server string) (contextcost.Size, []byte) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "lists", server+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var tools []*mcp.Tool
	if err := json.Unmarshal(text, &tools); err != nil {
		t.Fatalf("%s: %v", server, err)
	}
	var sum contextcost.Size
	for _, tool := range tools {
		sum = sum.Plus(contextcost.Of(tool).Total())
	}
	brackets := len("[]") + len(tools) - 1 // the brackets and commas of the list
	if text = bytes.TrimSpace(text); sum.Bytes+brackets != len(text) {
		t.Errorf("%s: got %d bytes and %d around them, want %d", server, sum.Bytes, brackets, len(text))
	}
	return sum, text
}

func TestTokensOfRealListsAreEstimatedWithinTenPercent(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "lists", "*.json"))
	if err != nil || len(files) != len(counted) || len(files) < 20 {
		t.Fatalf("want a count for each of at least 20 lists, got %d counts for %d lists, %v", len(counted), len(files), err)
	}
	within := func(server, what string, got, want int) {
		t.Helper()
		off := 100 * float64(got-want) / float64(want)
		t.Logf("%-25s %-4s %6d counted, %6d estimated, %+5.1f %%", server, what, want, got, off)
		if off < -10 || off > 10 {
			t.Errorf("%s: the estimate is off by %.1f %%, want at most 10", server, off)
		}
	}
	for server, want := range counted {
		sum, text := of(t, server)
		// the sum of all tools without the text around them, as programs show it
		within(server, "sum", sum.EstimatedTokens, want)
		within(server, "text", contextcost.EstimateTokens(text), want)
	}
}

func TestEstimateTokensByKindAndLength(t *testing.T) {
	for text, want := range map[string]int{
		"":                              0,
		"forecast":                      1,
		" of the weather":               3,
		"getForecast":                   2, // a capital starts a word
		"HTTPServer":                    1,
		"1234567":                       3, // one token for each three digits
		`"},"`:                          1,
		`{"type":"object"}`:             5,
		strings.Repeat("a", 4096):       1021, // not a word of any language
		strings.Repeat("\"}]}", 1024):   1761,
		strings.Repeat(" ", 512) + "a":  2,
		" {":                            1,
		"a \n":                          2,
		"das Größte":                    4,
		"获取城市":                          3,
		"\xff\xfe broken":               5,
		strings.Repeat("\U0001F600", 5): 10,
	} {
		if got := contextcost.EstimateTokens([]byte(text)); got != want {
			t.Errorf("%.20q: got %d tokens, want %d", text, got, want)
		}
	}
}

func TestDefinitionCountsNameDescriptionAndInputSchema(t *testing.T) {
	tool := &mcp.Tool{
		Name: "fore\"cast", Title: "Forecast", Description: "Says\nwhat will be.",
		InputSchema:  json.RawMessage(" { \"type\": \"object\",\n\t\"title\": \"a  b\" }\n"),
		OutputSchema: json.RawMessage(`{"type":"object"}`), Annotations: &mcp.ToolAnnotations{Title: "Forecast"},
	}
	d := contextcost.Of(tool)
	want := len(`{"name":"fore\"cast","description":"Says\nwhat will be.","inputSchema":}`)
	if d.Description.Bytes != want {
		t.Errorf("description: got %d bytes, want %d", d.Description.Bytes, want)
	}
	if want := len(`{"type":"object","title":"a  b"}`); d.InputSchema.Bytes != want {
		t.Errorf("schema: got %d bytes, want %d", d.InputSchema.Bytes, want)
	}
	if got, want := d.Total(), d.Description.Plus(d.InputSchema); got != want || got.EstimatedTokens < 10 {
		t.Errorf("total: got %v, want %v", got, want)
	}
	bare := contextcost.Of(&mcp.Tool{Name: "a"})
	if want := (contextcost.Size{Bytes: len(`{"name":"a"}`), EstimatedTokens: 5}); bare.Description != want ||
		bare.InputSchema != (contextcost.Size{}) {
		t.Errorf("a name alone: got %v, want %v", bare, want)
	}
	broken := contextcost.Of(&mcp.Tool{Name: "a", InputSchema: json.RawMessage(`{ "`)})
	if broken.InputSchema.Bytes != 3 {
		t.Errorf("a schema that is not JSON: got %d bytes, want 3", broken.InputSchema.Bytes)
	}
}

func FuzzEstimateTokens(f *testing.F) {
	f.Add([]byte(`{"name":"a b_c","description":"1234 \n ü 获"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		got := contextcost.EstimateTokens(text)
		if got < 0 || got > 2*len(text)+1 {
			t.Errorf("%q: got %d tokens of %d bytes", text, got, len(text))
		}
	})
}

func BenchmarkOf(b *testing.B) {
	text, err := os.ReadFile(filepath.Join("testdata", "lists", "mcp-grafana.json"))
	if err != nil {
		b.Fatal(err)
	}
	var tools []*mcp.Tool
	if err := json.Unmarshal(text, &tools); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		for _, tool := range tools {
			contextcost.Of(tool)
		}
	}
}

func BenchmarkEstimateTokens(b *testing.B) {
	text, err := os.ReadFile(filepath.Join("testdata", "lists", "mcp-grafana.json"))
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		contextcost.EstimateTokens(text)
	}
}
