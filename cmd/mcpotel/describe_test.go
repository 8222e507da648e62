package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestDescribeShowsEveryArgument(t *testing.T) {
	noCollector(t)
	url := echoes(t, manyTypes(t))
	code, out, stderr := runs(t, "describe", "--url", url, "echo")
	if code != exitOK {
		t.Fatalf("got exit code %d: %s", code, stderr)
	}
	for _, want := range []string{
		"echo\n    Say it.\n\narguments:\n  text: string, required\n      what to say\n  count: integer, optional, " +
			"default 3, at least 1, at most 9\n  share: number, optional\n", "  any: any type, optional\n",
		"  counts: array, optional, items: integer\n",
		"  level: any type, optional, one of 1, 2\n", "  maybe: string or null, optional\n",
		"  size: string, optional, one of \"s\", \"l\"\n      how large\n",
		"\nexample:\n  mcpotel call echo text=text --url " + url + "\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("want %q in\n%s", want, out)
		}
	}
	code, out, _ = runs(t, "describe", "--json", "--url", url, "echo")
	var d description
	if err := json.Unmarshal([]byte(out), &d); code != exitOK || err != nil || len(d.Arguments) != 14 ||
		!d.Arguments[0].Required || d.Open {
		t.Errorf("as JSON: got %d, %v: %s", code, err, out)
	}
	code, out, stderr = runs(t, "describe", "--url", url, "ecoh")
	if code != exitTool || !strings.Contains(stderr, "did you mean echo?") {
		t.Errorf("an unknown tool: got %d, %q and %q, want a suggestion", code, out, stderr)
	}
}

func TestDescribeShowsMembersOfObjects(t *testing.T) {
	noCollector(t)
	url := echoes(t, `{"type":"object","required":["to"],"properties":{
		"lines":{"type":"array","description":"what to send","items":{"type":"object","properties":{
			"qty":{"type":"integer","minimum":1,"description":"how many"}}}},
		"to":{"$ref":"#/$defs/place"}},
		"$defs":{"place":{"type":"object","required":["zip"],"properties":{"city":{"type":"string"},"zip":{"type":"string"},
			"near":{"$ref":"#/$defs/place"}}}}}`)
	_, out, _ := runs(t, "describe", "--url", url, "echo")
	want := "arguments:\n  to: object, required\n    zip: string, required\n    city: string, optional\n" +
		"    near: object, optional\n      zip: string, required\n"
	if !strings.Contains(out, want) {
		t.Errorf("want %q in\n%s", want, out)
	}
	want = "  lines: array, optional, items: object\n      what to send\n" +
		"    qty: integer, optional, at least 1\n        how many\n\nexample:\n"
	if !strings.Contains(out, want) || strings.Count(out, "zip: ") != 4 {
		t.Errorf("want %q, and 5 levels, in\n%s", want, out)
	}
	var d description
	_, out, _ = runs(t, "describe", "--json", "--url", url, "echo")
	if err := json.Unmarshal([]byte(out), &d); err != nil || d.Arguments[0].Members[2].Members[0].Name != "zip" ||
		d.Arguments[1].Members[0].Limits != "at least 1" {
		t.Errorf("as JSON: got %v: %s", err, out)
	}
}

func TestDescribeLimitsItsLines(t *testing.T) {
	noCollector(t)
	var members []string
	for i := range 150 {
		members = append(members, fmt.Sprintf(`"a%d":{"description":"x"}`, i))
	}
	url := echoes(t, `{"type":"object","properties":{`+strings.Join(members, ",")+`}}`)
	_, out, _ := runs(t, "describe", "--url", url, "echo")
	want := "  a99: any type, optional\n      x\n  and 100 more lines; --json prints all\n"
	if !strings.Contains(out, want) {
		t.Errorf("want %q in\n%s", want, out)
	}
}

// TestDescribePrintsAWorkingExample runs the commands that "describe" prints for various schemas. The server checks the
// arguments.
func TestDescribePrintsAWorkingExample(t *testing.T) {
	noCollector(t)
	for name, property := range map[string]string{
		"text":     `{"type":"string"}`,
		"control":  `{"type":"string","default":"a\\nb\\u001b"}`,
		"spaces":   `{"type":"string","enum":["a  b"]}`,
		"quotes":   `{"type":"string","default":"it's \"$HOME\""}`,
		"empty":    `{"type":"string","enum":[""]}`,
		"long":     `{"type":"string","minLength":20,"maxLength":20}`,
		"short":    `{"type":"string","maxLength":2}`,
		"date":     `{"type":"string","format":"date"}`,
		"integer":  `{"type":"integer","exclusiveMinimum":4,"multipleOf":5}`,
		"small":    `{"type":"integer","maximum":-7}`,
		"number":   `{"type":"number","exclusiveMinimum":0,"exclusiveMaximum":0.5}`,
		"boolean":  `{"type":"boolean"}`,
		"digits":   `{"type":["integer","string"],"default":"5"}`,
		"at":       `{"type":"string","default":"@ada"}`,
		"constant": `{"const":{"a":[1]}}`,
		"array":    `{"type":"array","minItems":2,"items":{"type":"integer","minimum":3}}`,
		"object": `{"type":"object","required":["b"],"properties":{"b":{"required":["c"],"type":"object",
			"properties":{"c":{"type":"boolean"}}}}}`,
		"nullable":   `{"anyOf":[{"type":"null"},{"type":"integer"}]}`,
		"any":        `{}`,
		"example":    `{"type":"string","pattern":"^[A-Z]{3}$","examples":["OSL"]}`,
		"with = too": `{"type":"string"}`,
	} {
		t.Run(name, func(t *testing.T) {
			url := echoes(t, fmt.Sprintf(`{"type":"object","required":[%[1]q],"properties":{%[1]q:%[2]s}}`, name, property))
			_, out, _ := runs(t, "describe", "--json", "--url", url, "echo")
			var d description
			if err := json.Unmarshal([]byte(out), &d); err != nil || d.Guess {
				t.Fatalf("want a complete example, got %v: %s", err, out)
			}
			words := shellWords(d.Example)
			if code, out, stderr := runs(t, words[1:]...); code != exitOK {
				t.Errorf("%s: got exit code %d: %s%s", d.Example, code, out, stderr)
			}
		})
	}
}

func TestDescribeMarksExamplesThatNeedEditing(t *testing.T) {
	noCollector(t)
	url := echoes(t, `{"type":"object","required":["x"],"properties":{"x":{"type":"string","pattern":"^[A-Z]{3}$"}}}`)
	if _, out, _ := runs(t, "describe", "--url", url, "echo"); !strings.Contains(out, "(edit the example: ") ||
		!strings.Contains(out, "pattern ^[A-Z]{3}$") {
		t.Errorf("want a note that the example needs editing, got:\n%s", out)
	}
}

func TestExamplesQuoteArgumentsForTheShell(t *testing.T) {
	if got, want := shellLine([]string{"a", "b=c d", "", "it's", "$x"}), `a 'b=c d' '' 'it'\''s' '$x'`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	c := connection{remote: remote{url: "http://x/", headers: headers{given: []string{"Authorization=Bearer s3cret"}}}}
	if got := shellLine(c.serverWords()); strings.Contains(got, "s3cret") || !strings.Contains(got, "Authorization=") {
		t.Errorf("arguments for the server: got %s, want the name of the header without its value", got)
	}
}
