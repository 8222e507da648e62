package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/mcpotel/mcpotel/internal/jsonscan"
)

// handDecoded lists the types whose decoders do not use the JSON library.
var handDecoded = map[string]func() any{
	"CallToolResult":     func() any { return new(CallToolResult) },
	"ListToolsResult":    func() any { return new(ListToolsResult) },
	"GetPromptResult":    func() any { return new(GetPromptResult) },
	"ReadResourceResult": func() any { return new(ReadResourceResult) },
	"CallToolParams":     func() any { return new(CallToolParams) },
}

// compare decodes text with Decode and with the oracle. It reports each difference that the oracle's comment does not
// list. If both accept the text, compare returns the value.
func compare(text []byte, v any) (own any, difference string) {
	want, oracleErr := oracle(bytes.Clone(text), v)
	mine := bytes.Clone(text)
	n, err := DecodeInPlace(mine, v)
	if r, ok := v.(*ListToolsResult); ok && err == nil && len(r.Unreadable) > 0 {
		err = r.Unreadable[0].Err // the oracle rejects the whole list
	}
	if err == nil {
		if err := jsonscan.Rest(mine, n); err != nil {
			return nil, "" // the oracle decodes no prefixes
		}
	}
	switch {
	case errors.Is(oracleErr, errOracleDuplicate):
		return nil, ""
	case oracleErr == nil && err == nil:
		return v, cmp.Diff(want, v)
	case oracleErr == nil && !knownDifference(text):
		return nil, "only the oracle accepts it: " + err.Error()
	case err == nil:
		return nil, "only Decode accepts it: " + oracleErr.Error()
	}
	return nil, ""
}

// knownDifference reports whether text may contain something that only the oracle accepts, as the oracle's comment
// lists.
func knownDifference(text []byte) bool {
	has := func(s string) bool { return bytes.Contains(text, []byte(s)) }
	return has("null") && (has(`"audience"`) || has(`"sizes"`))
}

// samples returns golden values of the types in handDecoded, and additional values in unusual forms of JSON.
func samples(tb testing.TB) map[string][][]byte {
	byType := map[string][][]byte{}
	for _, g := range goldens(tb) {
		if handDecoded[g.name] != nil {
			byType[g.name] = append(byType[g.name], g.text)
		}
	}
	odd := func(name string, texts ...string) {
		for _, text := range texts {
			byType[name] = append(byType[name], []byte(text))
		}
	}
	odd("CallToolResult",
		`{"content":[{"text":"type comes last","annotations":null,"_meta":null,"type":"text"}],"isError":null}`,
		`{"c\u006fntent":[{"t\u0079pe":"te\u0078t","text":"\ud83d\ude00 \ud83d \ude00"}]}`,
		`{"content":[{"type":"tool_use","id":"1","name":"n","input":{}},{"type":"tool_result","toolUseId":"1",`+
			`"content":[{"type":"text","text":"x"}],"structuredContent":[],"isError":false}]}`,
		`{"content":[{"type":"text","text":"x","annotations":{"audience":["user"],"priority":1e-3,"lastModified":"now",`+
			`"more":1}}]}`,
		`{"resultType":"input_required","requestState":"s"}`,
		`{"resultType":null,"content":null}`,
		`{"content":[{"type":"resource","resource":{"uri":"u","text":"t","blob":"b"}}]}`,
		`{"content":[{"type":"text","text":""}],"Content":[],"CONTENT":1,"":{}}`,
	)
	odd("ListToolsResult",
		`{"tools":[{"name":"a","inputSchema":{},"outputSchema":null,"annotations":{"readOnlyHint":null},"execution":{},`+
			`"icons":[]}],"ttlMs":-5}`,
		`{"resultType":"other"}`,
	)
	odd("GetPromptResult", `{"messages":[{"role":"user","content":{"type":"audio","data":"","mimeType":""}}],`+
		`"resultType":"task"}`)
	odd("ReadResourceResult", `{"contents":[{"uri":"u","blob":null,"text":"t"}],"cacheScope":"other"}`)
	odd("CallToolParams", `{"name":"n","arguments":null,"task":null,"inputResponses":null,"requestState":null,`+
		`"_meta":null}`)
	return byType
}

func TestDecodeAgreesWithTheOracle(t *testing.T) {
	for name, texts := range samples(t) {
		for _, text := range texts {
			if v, diff := compare(text, handDecoded[name]()); diff != "" {
				t.Errorf("%s: %s\n%s", name, text, diff)
			} else if v == nil && !bytes.Contains(text, []byte(`"content":null`)) {
				t.Errorf("%s: %s is refused, want it accepted", name, text)
			}
		}
	}
}

// TestDecodeAgreesWithTheOracleOnDamagedValues changes samples at random places: bytes, numbers, names and whole
// members.
func TestDecodeAgreesWithTheOracleOnDamagedValues(t *testing.T) {
	rounds := 3000
	if testing.Short() {
		rounds = 300
	}
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	accepted := 0
	for name, texts := range samples(t) {
		for range rounds {
			text := damage(random, texts)
			v, diff := compare(text, handDecoded[name]())
			if diff != "" {
				t.Fatalf("seed %d: %s: %s\n%s", seed, name, text, diff)
			}
			if v != nil {
				accepted++
			}
		}
	}
	if least := rounds / 2; accepted < least {
		t.Errorf("seed %d: only %d damaged values were still accepted, want at least %d for the test to mean something",
			seed, accepted, least)
	}
}

// fragments are the texts that damage inserts into values.
var fragments = []string{
	`null`, `true`, `0`, `-1`, `1.5`, `1e3`, `""`, `"x"`, `{}`, `[]`, `[null]`, `{"a":{"b":[1]}}`, `"\ud800"`, "\x80",
	"\x00",
	`,`, `:`, `"`, `\`, `{`, `}`, `[`, `]`, ` `, "\n", `"type":"text",`, `"text":"t",`, `"_meta":{},`,
	`"resultType":"complete",`,
}

// damage returns one of texts, with one to three changes.
func damage(random *rand.Rand, texts [][]byte) []byte {
	text := bytes.Clone(texts[random.IntN(len(texts))])
	for range 1 + random.IntN(3) {
		i := random.IntN(len(text) + 1)
		switch random.IntN(5) {
		case 0: // replace a value
			if start, end, ok := someValue(random, text); ok {
				text = slices.Replace(text, start, end, []byte(fragments[random.IntN(len(fragments))])...)
			}
		case 1: // replace a value with a value from another text
			other := texts[random.IntN(len(texts))]
			if from, to, ok := someValue(random, other); ok {
				if start, end, ok := someValue(random, text); ok {
					text = slices.Replace(text, start, end, other[from:to]...)
				}
			}
		case 2:
			text = slices.Insert(text, i, []byte(fragments[random.IntN(len(fragments))])...)
		case 3:
			text = slices.Delete(text, i, min(i+1+random.IntN(4), len(text)))
		case 4:
			if i < len(text) {
				text[i] ^= 1 << random.IntN(8)
			}
		}
		if len(text) == 0 {
			return []byte("{}")
		}
	}
	return text
}

// someValue returns the position of a random value in text.
func someValue(random *rand.Rand, text []byte) (start, end int, ok bool) {
	for range 20 {
		start := random.IntN(len(text))
		if !strings.ContainsRune(`{["0123456789tfn`, rune(text[start])) {
			continue
		}
		if end, err := jsonscan.Value(text, start); err == nil {
			return start, end, true
		}
	}
	return 0, 0, false
}

func TestResultsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := &CallToolResult{
			Result: Result{Meta: drawObject(t),
				ResultType: rapid.SampledFrom([]ResultType{"", "complete"}).Draw(t, "resultType")},
			Content: ContentList(rapid.SliceOf(rapid.Custom(drawContent)).Draw(t, "content")),
			StructuredContent: rapid.SampledFrom([]json.RawMessage{nil, json.RawMessage("null"), json.RawMessage(`{"a":[1]}`)}).
				Draw(t, "structured"),
			IsError: rapid.Bool().Draw(t, "isError"),
		}
		text, err := AppendResult(nil, r)
		if err != nil {
			t.Fatal(err)
		}
		got, diff := compare(text, new(CallToolResult))
		if diff != "" {
			t.Fatalf("%s\n%s", text, diff)
		}
		if diff := cmp.Diff(r, got, equateEmptyLists); diff != "" {
			t.Fatalf("%s decodes to something else (-want +got):\n%s", text, diff)
		}
	})
}

// equateEmptyLists treats a nil list of blocks as an empty list, because both have the same encoding.
var equateEmptyLists = cmp.Transformer("nil", func(l ContentList) []Content { return append([]Content{}, l...) })

func drawObject(t *rapid.T) Object {
	return rapid.SampledFrom([]Object{nil, Object(`{}`), Object(`{"a":{"b":"c"}}`)}).Draw(t, "object")
}

func drawAnnotations(t *rapid.T) *Annotations {
	if rapid.Bool().Draw(t, "no annotations") {
		return nil
	}
	a := &Annotations{LastModified: rapid.String().Draw(t, "lastModified")}
	if rapid.Bool().Draw(t, "audience") {
		a.Audience = rapid.SliceOf(rapid.SampledFrom([]Role{RoleUser, RoleAssistant, "other"})).Draw(t, "roles")
	}
	if rapid.Bool().Draw(t, "priority") {
		a.Priority = new(rapid.Float64Range(0, 1).Draw(t, "value"))
	}
	return a
}

func drawContent(t *rapid.T) Content {
	text := rapid.String()
	switch rapid.IntRange(0, 5).Draw(t, "type") {
	case 0:
		return &TextContent{text.Draw(t, "text"), drawAnnotations(t), drawObject(t)}
	case 1:
		return &ImageContent{text.Draw(t, "data"), text.Draw(t, "mimeType"), drawAnnotations(t), drawObject(t)}
	case 2:
		return &AudioContent{text.Draw(t, "data"), text.Draw(t, "mimeType"), drawAnnotations(t), drawObject(t)}
	case 3:
		c := &ResourceContents{Meta: drawObject(t), URI: "u" + text.Draw(t, "uri"), MIMEType: text.Draw(t, "mimeType")}
		if rapid.Bool().Draw(t, "blob") {
			c.Blob = new(text.Draw(t, "blob"))
		} else {
			c.Text = text.Draw(t, "text")
		}
		return &EmbeddedResource{c, drawAnnotations(t), drawObject(t)}
	case 4:
		return &ResourceLink{
			Meta: drawObject(t), URI: "u" + text.Draw(t, "uri"), Name: "n" + text.Draw(t, "name"), Title: text.Draw(t, "title"),
			Annotations: drawAnnotations(t), Size: new(rapid.Int64().Draw(t, "size")),
			Icons: []Icon{{Src: "s" + text.Draw(t, "src"), Sizes: []string{"any"}, Theme: ThemeDark}},
		}
	}
	return &UnknownContent{Type: "newer", Raw: json.RawMessage(`{"type":"newer","x":[{}]}`)}
}

func FuzzDecode(f *testing.F) {
	for name, texts := range samples(f) {
		for _, text := range texts {
			f.Add(name, text)
		}
	}
	f.Fuzz(func(t *testing.T, name string, text []byte) {
		if handDecoded[name] == nil {
			name = "CallToolResult"
		}
		if _, diff := compare(text, handDecoded[name]()); diff != "" {
			t.Errorf("%s: %s\n%s", name, text, diff)
		}
	})
}

// checkRoundTrip decodes text into a value of the named type and encodes the value. It fails if the encoded text
// cannot be decoded.
func checkRoundTrip(t *testing.T, name string, text []byte) (decoded bool) {
	t.Helper()
	g := golden{name: name}
	v := g.new()
	if _, err := Decode(bytes.Clone(text), v); err != nil {
		return false
	}
	encoded, err := AppendResult(nil, v)
	if err != nil {
		t.Fatalf("%s: %s decodes but does not encode: %v", name, text, err)
	}
	if _, err := Decode(bytes.Clone(encoded), g.new()); err != nil {
		t.Fatalf("%s: %s is encoded as %s, which does not decode: %v", name, text, encoded, err)
	}
	if bytes.ContainsAny(encoded, "\n\r") {
		t.Fatalf("%s: %s is encoded with a line break: %q", name, text, encoded)
	}
	return true
}

func TestDecodedValuesEncodeAndDecodeAgain(t *testing.T) {
	rounds := 1000
	if testing.Short() {
		rounds = 100
	}
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d", seed)
	decoded := 0
	all := goldens(t)
	for _, g := range all {
		for range rounds {
			if checkRoundTrip(t, g.name, damage(random, [][]byte{g.text})) {
				decoded++
			}
		}
	}
	if least := rounds * len(all) / 20; decoded < least {
		t.Errorf("only %d damaged values decode, want at least %d for the test to mean something", decoded, least)
	}
}

func FuzzDecodeAny(f *testing.F) {
	for _, g := range goldens(f) {
		f.Add(g.name, g.text)
	}
	f.Fuzz(func(t *testing.T, name string, text []byte) {
		if wireTypes[name] != nil {
			checkRoundTrip(t, name, text)
		}
	})
}
