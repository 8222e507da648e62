package mcpproxy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mcpotel/mcpotel/internal/jsonscan"
)

// redacting returns the secrets for these options.
func redacting(t testing.TB, o Redaction) *secrets {
	t.Helper()
	r, err := newSecrets(&o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRedaction(t *testing.T) {
	keys := Redaction{Keys: []string{"password", "token"}}
	secret := Redaction{Patterns: []string{`sk-[a-z0-9]{4,}`}}
	for _, c := range []struct {
		name     string
		o        Redaction
		in       string
		want     string
		replaced int
	}{
		{"nothing", keys, `{ "a" : [1, "token"],"b":{}}`, `{ "a" : [1, "token"],"b":{}}`, 0},
		{"a value", keys, `{"password": "x" ,"b":1}`, `{"password": "[redacted]" ,"b":1}`, 1},
		{"at any depth", keys, `{"a":[{"b":{"token":1}}]}`, `{"a":[{"b":{"token":"[redacted]"}}]}`, 1},
		{"a value of any type", keys, `{"token":{"a":[1,"]}"]}, "password":null}`,
			`{"token":"[redacted]", "password":"[redacted]"}`, 2},
		{"twice", keys, `{"token":1,"token":2}`, `{"token":"[redacted]","token":"[redacted]"}`, 2},
		{"escaped", keys, `{"pass\u0077ord":"x"}`, `{"pass\u0077ord":"[redacted]"}`, 1},
		{"in capitals", keys, `{"PassWord":"x"}`, `{"PassWord":"[redacted]"}`, 1},
		{"a redacted value", keys, `{"token":"[redacted]"}`, `{"token":"[redacted]"}`, 0},
		{"names that only contain a key", keys, `{"tokens":1,"xtoken":2}`, `{"tokens":1,"xtoken":2}`, 0},
		{"another replacement", Redaction{Keys: []string{"a"}, With: `"x\`}, `{"a":1}`, `{"a":"\"x\\"}`, 1},
		{"within a text", secret, `{"text":"a sk-abcd1 b sk-ffff"}`, `{"text":"a [redacted] b [redacted]"}`, 2},
		{"a match in JSON in a text", secret, `["{\"k\":\"sk-\u0061bcd\"}"]`, `["{\"k\":\"[redacted]\"}"]`, 1},
		{"unchanged rest", secret, `["\u00e9\/\ud83d\ude00 sk-abcd \ud83d\n\u0041"]`,
			`["\u00e9\/\ud83d\ude00 [redacted] \ud83d\n\u0041"]`, 1},
		{"a name", secret, `{"sk-abcd":1}`, `{"[redacted]":1}`, 1},
		{"a name with a key", Redaction{Keys: []string{"token"}, Patterns: []string{"tok"}}, `{"token":1}`,
			`{"[redacted]en":"[redacted]"}`, 2},
		{"a text alone", secret, `"sk-abcd"`, `"[redacted]"`, 1},
		{"a replacement that creates a match", Redaction{Patterns: []string{`a\[`, "x"}}, `"ax, and more"`,
			`"[redacted]redacted], and more"`, 2},
		{"JSON in a text", keys, `["{\"a\":\"\\u00e9\/\", \"tok\u0065n\": [1,\"x\"] }","{\"token\":1","{token:1}"]`,
			`["{\"a\":\"\\u00e9\/\", \"tok\u0065n\": \"[redacted]\" }","{\"token\":1","{token:1}"]`, 1},
		{"an escaped beginning", keys, `["\n\u007b\"token\":1}"]`, `["\n\u007b\"token\":\"[redacted]\"}"]`, 1},
		{"an escaped name in it", keys, `["[{\"tok\\u0065n\":1}]"]`, `["[{\"tok\\u0065n\":\"[redacted]\"}]"]`, 1},
		{"a text in such a text", keys, `["{\"a\":\"{\\\"token\\\":1}\"}"]`, `["{\"a\":\"{\\\"token\\\":1}\"}"]`, 0},
		{"endless replacement", Redaction{Patterns: []string{`\[y`, "x+"}, With: "[yy"}, `"xx"`, ``, -1},
		{"limited growth", Redaction{Patterns: []string{"x"}}, `"` + strings.Repeat("x", 40) + `"`, `"[redacted]"`, 40},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.replaced < 0 {
				if _, err := newSecrets(&c.o); err == nil {
					t.Error("want an error")
				}
				return
			}
			got, n := redacting(t, c.o).redact(json.RawMessage(c.in), part{})
			if string(got) != c.want || n != c.replaced {
				t.Errorf("got %s, %d, want %s, %d", got, n, c.want, c.replaced)
			}
		})
	}
}

func TestRedactedMessageGrowsAtMostThreefold(t *testing.T) {
	const most = 300_000
	for name, unit := range map[string]string{
		"texts": `"x"`, "values": `{"a":1}`, "values of names": `{"x":{"a":[]}}`, "names": `{"x":1}`,
		"objects in a text": `"{\"a\":1}"`, "escapes": `"\u0078"`,
	} {
		in := "[" + strings.Repeat(unit+",", most/(len(unit)+1)) + `"end"]`
		for _, with := range []string{"", strings.Repeat("*", maxWith), strings.Repeat("\"", maxWith)} {
			r := redacting(t, Redaction{Keys: []string{"a"}, Patterns: []string{"x"}, With: with})
			got, n := r.redact(json.RawMessage(in), part{})
			if len(got) > 3*len(in)+1<<10 || n < most/(len(unit)+1) {
				t.Errorf("%s with %q: %d bytes became %d with %d replacements", name, with, len(in), len(got), n)
			}
			if err := jsonscan.Valid(got); err != nil || strings.Contains(string(got), "x") {
				t.Errorf("%s with %q: the text is not valid (%v), or contains a secret", name, with, err)
			}
			if !strings.HasPrefix(string(got[1:]), string(r.quoted)) && name == "texts" {
				t.Errorf("%s with %q: got %.100s, want the replacement for the first secret", name, with, got)
			}
		}
	}
}

func TestRedactedKeysAreIgnoredInDefinitions(t *testing.T) {
	r := redacting(t, Redaction{Keys: []string{"token"}, Patterns: []string{"sk-1"}})
	asks := []string{"inputRequests", "*", "params", "requestedSchema"}
	for _, c := range []struct {
		in   part
		text string
		want string
	}{
		{part{noKeys: true}, `{"token":"sk-1"}`, `{"token":"[redacted]"}`},
		{part{noKeys: true}, `{"token":1}`, `{"token":1}`},
		{part{below: 1}, `{"code":1,"token":1,"data":{"token":1}}`,
			`{"code":1,"token":"[redacted]","data":{"token":"[redacted]"}}`},
		{part{schema: asks},
			`{"inputRequests":{"token":1,"a":{"params":{"requestedSchema":{"token":"sk-1"},"token":1}}},"token":2}`,
			`{"inputRequests":{"token":"[redacted]","a":{"params":{"requestedSchema":{"token":"[redacted]"},` +
				`"token":"[redacted]"}}},"token":"[redacted]"}`},
		{part{schema: asks}, `{"inputRequests":{"a":{"params":{"requestedSchema":{"token":[1]}}}}}`,
			`{"inputRequests":{"a":{"params":{"requestedSchema":{"token":[1]}}}}}`},
		{part{schema: asks}, `{"inputRequests":[{"params":{"requestedSchema":{"token":1}}}]}`,
			`{"inputRequests":[{"params":{"requestedSchema":{"token":"[redacted]"}}}]}`},
		{part{schema: asks}, `{"inputRequests":{"a":{"x":{"requestedSchema":{"token":1}}}}}`,
			`{"inputRequests":{"a":{"x":{"requestedSchema":{"token":"[redacted]"}}}}}`},
		{part{schema: asks}, `{"x":{"a":{"params":{"requestedSchema":{"token":1}}}},"requestedSchema":{"token":1}}`,
			`{"x":{"a":{"params":{"requestedSchema":{"token":"[redacted]"}}}},"requestedSchema":{"token":"[redacted]"}}`},
	} {
		if got, _ := r.redact(json.RawMessage(c.text), c.in); string(got) != c.want {
			t.Errorf("%s: got %s, want %s", c.text, got, c.want)
		}
	}
}

// drawJSON draws a JSON value. The value contains white space and escapes that a peer may write.
func drawJSON(t *rapid.T, depth int) string {
	space := rapid.SampledFrom([]string{"", "", " ", "\t "})
	text := rapid.Custom(func(t *rapid.T) string {
		return `"` + strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{
			"token", "tok", "en", "a", "b", "sk-", "12", "é", `\u0061`, `\u00e9`, `\n`, `\\`, `\"`, `\ud83d\ude00`, `\ud83d`,
			`\u0073k-1`, "[", "]", "x", `{\"token\":1}`, `[{\"a\":{\"b\":\"\\u0061\"}}]`,
		}), 0, 6).Draw(t, "parts"), "") + `"`
	})
	kind := rapid.IntRange(0, 4).Draw(t, "kind")
	if depth == 0 {
		kind = kind % 2
	}
	var b strings.Builder
	b.WriteString(space.Draw(t, "before"))
	switch kind {
	case 0:
		b.WriteString(text.Draw(t, "text"))
	case 1:
		b.WriteString(rapid.SampledFrom([]string{"0", "-1.5e9", "true", "null"}).Draw(t, "bare"))
	case 2:
		b.WriteString("[")
		for i := range rapid.IntRange(0, 3).Draw(t, "elements") {
			if i > 0 {
				b.WriteString(",")
			}
			b.WriteString(drawJSON(t, depth-1))
		}
		b.WriteString(space.Draw(t, "end") + "]")
	default:
		b.WriteString("{")
		for i := range rapid.IntRange(0, 3).Draw(t, "members") {
			if i > 0 {
				b.WriteString(",")
			}
			b.WriteString(space.Draw(t, "name") + text.Draw(t, "name") + space.Draw(t, "colon") + ":" + drawJSON(t, depth-1))
		}
		b.WriteString(space.Draw(t, "end") + "}")
	}
	b.WriteString(space.Draw(t, "after"))
	return b.String()
}

// visit calls f with each decoded string of valid JSON, and calls value with the raw value of each member.
func visit(b []byte, f func(string), value func(name, raw string)) {
	i := jsonscan.Space(b, 0)
	switch b[i] {
	case '{':
		for o := jsonscan.ObjectAt(b, i); o.Next(); {
			f(string(o.Key()))
			raw := o.Raw()
			value(string(o.Key()), string(raw))
			visit(raw, f, value)
		}
	case '[':
		for a := jsonscan.ArrayAt(b, i); a.Next(); {
			visit(a.Raw(), f, value)
		}
	case '"':
		s, _, _ := jsonscan.Text(bytes.Clone(b), i)
		f(s)
	}
}

func TestRedactedTextsAreValidAndWithoutSecrets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := Redaction{
			Keys: rapid.SliceOfN(rapid.SampledFrom([]string{"token", "a", "é"}), 0, 2).Draw(t, "keys"),
			Patterns: rapid.SliceOfN(rapid.SampledFrom([]string{
				`sk-\d`, "x+", "^b", `b$`, `\\`, "é", `a\[`, `\x{1F600}`, `\bxx\b`,
			}), 0, 3).Draw(t, "patterns"),
			With: rapid.SampledFrom([]string{"", "***", `"`}).Draw(t, "with"),
		}
		r, err := newSecrets(&o)
		if err != nil || r == nil {
			return
		}
		in := drawJSON(t, 3)
		if err := jsonscan.Valid([]byte(in)); err != nil {
			t.Fatal(err)
		}
		got, n := r.redact(json.RawMessage(in), part{})
		if len(got) > 3*len(in)+1<<10 {
			t.Errorf("%s of %d bytes became %d bytes", in, len(in), len(got))
		}
		if err := jsonscan.Valid(got); err != nil {
			t.Fatalf("%s became %s: %v", in, got, err)
		}
		if (n == 0) != (string(got) == in) {
			t.Errorf("%s became %s with %d replacements", in, got, n)
		}
		shows := func(name, raw string) {
			if r.hasKey([]byte(name)) && !r.isHidden([]byte(raw)) {
				t.Errorf("%s became %s, in which %q has the value %s", in, got, name, raw)
			}
		}
		visit(got, func(s string) {
			if s != "" && (s[0] == '{' || s[0] == '[') && jsonscan.Valid([]byte(s)) == nil {
				visit([]byte(s), func(string) {}, shows)
			}
			for _, p := range r.patterns {
				if p.MatchString(s) {
					t.Errorf("%s became %s, in which %s matches %q", in, got, p, s)
				}
			}
		}, shows)
		if again, n := r.redact(got, part{}); n != 0 || string(again) != string(got) {
			t.Errorf("%s became %s, and then %s", in, got, again)
		}
	})
}

func TestInvalidRedactionIsReported(t *testing.T) {
	for want, o := range map[string]Redaction{
		"matches the empty text":            {Patterns: []string{"a*"}},
		`matches the replacement`:           {Patterns: []string{"red"}},
		"missing closing ]":                 {Patterns: []string{"["}},
		"policy: redaction: a key is empty": {Keys: []string{""}},
		"has more than 64 bytes":            {Keys: []string{"a"}, With: strings.Repeat("x", 65)},
	} {
		if _, err := (&Policy{Redaction: o}).compile(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// logLines returns a result of about this size. It is one text with many lines, or one structure with many members.
func logLines(size int, structured bool) []byte {
	var b bytes.Buffer
	b.WriteString(`{"content":[{"type":"text","text":"`)
	if structured {
		b.Reset()
		b.WriteString(`{"structuredContent":{"lines":[`)
	}
	for i := 0; b.Len() < size; i++ {
		if structured {
			fmt.Fprintf(&b, `{"level":"info","number":%d,"message":"the quick brown fox jumps over the lazy dog"},`, i)
		} else {
			fmt.Fprintf(&b, `level=info number=%d message=\"the quick brown fox jumps over the lazy dog\"\n`, i)
		}
	}
	if structured {
		b.WriteString(`{"token":"sk-abcdefghijklmnopqrstuvwx"}]}}`)
	} else {
		b.WriteString(`sk-abcdefghijklmnopqrstuvwx"}]}`)
	}
	return b.Bytes()
}

func BenchmarkRedact(b *testing.B) {
	for _, c := range []struct {
		name string
		o    Redaction
	}{
		{"keys", Redaction{Keys: []string{"password", "token"}}},
		{"literal", Redaction{Patterns: []string{`sk-[A-Za-z0-9]{20,}`}}},
		{"class", Redaction{Patterns: []string{`[A-Za-z0-9._]+@[a-z]+\.com`}}},
	} {
		for _, structured := range []bool{false, true} {
			text := logLines(16<<20, structured)
			r := redacting(b, c.o)
			b.Run(fmt.Sprintf("%s/structured=%t", c.name, structured), func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				b.ReportAllocs()
				for b.Loop() {
					r.redact(text, part{})
				}
			})
		}
	}
}
