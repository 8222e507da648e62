package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/tiktoken-go/tokenizer"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcp/contextcost"
)

// o200k is the tokenizer whose counts the library estimates.
var o200k = sync.OnceValues(func() (tokenizer.Codec, error) { return tokenizer.Get(tokenizer.O200kBase) })

// checkCost compares the estimated tokens of a server's tools with the count of the tokenizer.
func checkCost(t *testing.T, tools []*mcp.Tool) {
	t.Helper()
	codec, err := o200k()
	if err != nil {
		t.Fatal(err)
	}
	type given struct { // as a model receives it
		Name        string          `json:"name"`
		Description string          `json:"description,omitzero"`
		InputSchema json.RawMessage `json:"inputSchema"`
	}
	var all []given
	estimated := 0
	for _, tool := range tools {
		all = append(all, given{tool.Name, tool.Description, tool.InputSchema})
		estimated += contextcost.Of(tool).Total().EstimatedTokens
	}
	var text strings.Builder
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if err := e.Encode(all); err != nil {
		t.Fatal(err)
	}
	counted, err := codec.Count(strings.TrimSpace(text.String()))
	if err != nil {
		t.Fatal(err)
	}
	off := 100 * float64(estimated-counted) / float64(counted)
	t.Logf("%d tokens counted, %d estimated, %+.1f %%", counted, estimated, off)
	if off < -10 || off > 10 {
		t.Errorf("got an estimate of %d tokens for %d, want it within 10 %%", estimated, counted)
	}
}

// TestTokensOfStoredListsAreEstimated checks the lists for which the package's own test has counts.
func TestTokensOfStoredListsAreEstimated(t *testing.T) {
	files, err := filepath.Glob("../../mcp/contextcost/testdata/lists/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("want lists, got %v, %v", files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var tools []*mcp.Tool
			if err := json.Unmarshal(text, &tools); err != nil {
				t.Fatal(err)
			}
			checkCost(t, tools)
		})
	}
}
