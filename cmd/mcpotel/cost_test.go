package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

func TestCostRanksToolsByTokens(t *testing.T) {
	noCollector(t)
	code, out, stderr := runs(t, append([]string{"cost"}, demoServerCommand(t)...)...)
	rows := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	if code != exitOK || len(rows) != 14 || !strings.HasPrefix(rows[0], "~tokens  ") ||
		!strings.HasSuffix(rows[1], "  brew") ||
		!strings.HasSuffix(rows[13], "  total: 0.2 % of a context of 200000 tokens") {
		t.Errorf("want a header, twelve tools, brew first, and a total, got %d:\n%s%s", code, out, stderr)
	}

	code, out, stderr = runs(t, append([]string{"cost", "--json"}, demoServerCommand(t)...)...)
	var all toolCosts
	if err := json.Unmarshal([]byte(out), &all); code != exitOK || err != nil || len(all.Tools) != 12 {
		t.Fatalf("want twelve tools as JSON, got %d, %v:\n%s%s", code, err, out, stderr)
	}
	bytes, tokens, shares := 0, 0, 0.0
	for _, tool := range all.Tools {
		if tool.Size != tool.Total() || tool.Description.Bytes == 0 || tool.InputSchema.Bytes == 0 {
			t.Errorf("%s: got %+v, want two parts and their sum", tool.Name, tool)
		}
		bytes, tokens, shares = bytes+tool.Bytes, tokens+tool.EstimatedTokens, shares+tool.Share
	}
	if bytes != all.Bytes || tokens != all.EstimatedTokens || shares < .999 || shares > 1.001 ||
		all.WindowShare != float64(tokens)/200_000 {
		t.Errorf("got %+v, want %d bytes, %d tokens and shares that add up to 1", all, bytes, tokens)
	}
	if !slices.IsSortedFunc(all.Tools, func(a, b toolCost) int { return b.EstimatedTokens - a.EstimatedTokens }) {
		t.Errorf("want the largest tool first, got\n%s", out)
	}
}

func TestCostOfAServerWithoutTools(t *testing.T) {
	costs := costsOf(nil)
	var out strings.Builder
	if err := costs.print(&out); err != nil || !strings.Contains(out.String(), "total: 0.0 %") {
		t.Errorf("got %v and %q, want a total of zero", err, out.String())
	}
	out.Reset()
	if err := printJSON(&out, costs); err != nil || !strings.Contains(out.String(), `"tools": []`) {
		t.Errorf("got %v and %q, want an empty list", err, out.String())
	}
}

func TestMisuseOfCostIsExplained(t *testing.T) {
	noCollector(t)
	for name, tc := range map[string]struct {
		args   []string
		stderr string
	}{
		"no server":          {[]string{"cost"}, "no server: give --url URL"},
		"a surplus argument": {append([]string{"cost", "x"}, demoServerCommand(t)...), `unexpected argument "x"`},
		"an unknown flag":    {[]string{"cost", "--window", "3"}, `unknown flag: --window; "mcpotel help cost" lists`},
		"a misspelt name":    {[]string{"costs"}, `unknown command "costs" (did you mean cost?)`},
	} {
		if code, out, stderr := runs(t, tc.args...); code != exitUsage || out != "" || !strings.Contains(stderr, tc.stderr) {
			t.Errorf("%s: got exit code %d, %q and %q, want %d and a text with %q", name, code, out, stderr, exitUsage,
				tc.stderr)
		}
	}
}
