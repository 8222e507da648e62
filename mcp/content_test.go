package mcp

import (
	"bytes"
	"encoding/json"
	"testing"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
)

func TestImageAndAudioBytesRoundTrip(t *testing.T) {
	for _, data := range [][]byte{{}, {0}, {0xff, 0xfe, 0x3e}, []byte("four")} {
		image, audio := Image(data, "image/png"), Audio(data, "audio/wav")
		if image.MIMEType != "image/png" || audio.MIMEType != "audio/wav" {
			t.Errorf("want the MIME types that were given, got %q and %q", image.MIMEType, audio.MIMEType)
		}
		text, err := AppendResult(nil, &CallToolResult{Content: ContentList{image, audio}})
		if err != nil {
			t.Fatal(err)
		}
		var back CallToolResult
		if _, err := Decode(text, &back); err != nil {
			t.Fatal(err)
		}
		seen, err := back.Content[0].(*ImageContent).Bytes()
		heard, err2 := back.Content[1].(*AudioContent).Bytes()
		if err != nil || err2 != nil || !bytes.Equal(seen, data) || !bytes.Equal(heard, data) {
			t.Errorf("want %q twice, got %q, %v and %q, %v", data, seen, err, heard, err2)
		}
	}
	if _, err := (&ImageContent{Data: "!"}).Bytes(); err == nil {
		t.Error("Bytes of an image that is not base64 returned no error")
	}
	if _, err := (&AudioContent{Data: "!"}).Bytes(); err == nil {
		t.Error("Bytes of audio that is not base64 returned no error")
	}
}

// TestContentWorksInUsersTypes uses content in fields of a user's own types, by value and by pointer.
func TestContentWorksInUsersTypes(t *testing.T) {
	type page struct {
		Title  string       `json:"title"`
		Blocks ContentList  `json:"blocks"`
		First  *TextContent `json:"first,omitzero"`
		Second Content      `json:"second,omitzero"`
		Third  TextContent  `json:"third"`
	}
	p := page{
		Title:  "x",
		Blocks: ContentList{Text("a"), &ResourceLink{URI: "u", Name: "n"}},
		First:  Text("b"),
		Second: &AudioContent{Data: "", MIMEType: "audio/wav"},
		Third:  TextContent{Text: "c"},
	}
	const want = `{"title":"x","blocks":[{"type":"text","text":"a"},{"type":"resource_link","uri":"u","name":"n"}],` +
		`"first":{"type":"text","text":"b"},"second":{"type":"audio","data":"","mimeType":"audio/wav"},` +
		`"third":{"type":"text","text":"c"}}`
	for name, marshal := range map[string]func(any) ([]byte, error){
		"v1": json.Marshal,
		"v2": func(v any) ([]byte, error) { return jsonv2.Marshal(v) },
	} {
		for _, v := range []any{p, &p} {
			if got, err := marshal(v); err != nil || string(got) != want {
				t.Errorf("json %s of a %T: %s, %v\nwant %s", name, v, got, err, want)
			}
		}
	}
	const blocks = `{"blocks":[{"type":"text","text":"\u0061"},{"type":"x"}]}`
	for name, unmarshal := range map[string]func([]byte, any) error{
		"v1": json.Unmarshal,
		"v2": func(b []byte, v any) error { return jsonv2.Unmarshal(b, v) },
	} {
		var got page
		if err := unmarshal([]byte(blocks), &got); err != nil {
			t.Fatalf("json %s: %v", name, err)
		}
		want := ContentList{Text("a"), &UnknownContent{"x", json.RawMessage(`{"type":"x"}`)}}
		if diff := cmp.Diff(want, got.Blocks); diff != "" {
			t.Errorf("json %s (-want +got):\n%s", name, diff)
		}
	}
}

func TestNilContentListIsWrittenAsAnEmptyArray(t *testing.T) {
	for name, marshal := range map[string]func(any) ([]byte, error){
		"v1": json.Marshal,
		"v2": func(v any) ([]byte, error) { return jsonv2.Marshal(v) },
	} {
		if got, err := marshal(CallToolResult{}); err != nil || string(got) != `{"content":[]}` {
			t.Errorf("json %s: %s, %v, want an empty array", name, got, err)
		}
	}
}

func TestResultTextJoinsTextBlocks(t *testing.T) {
	r := CallToolResult{Content: ContentList{Text("a"), &ImageContent{Data: "b"}, Text(""), Text("c")}}
	if got, want := r.Text(), "a\n\nc"; got != want {
		t.Errorf("Text() = %q, want %q", got, want)
	}
	if got := (&CallToolResult{}).Text(); got != "" {
		t.Errorf("Text() of an empty result = %q, want nothing", got)
	}
}

func TestSamplingContentIsOneBlockOrArray(t *testing.T) {
	for _, c := range []struct {
		text string
		want SamplingContent
		back string
	}{
		{`{"type":"text","text":"a"}`, SamplingContent{Text("a")}, `{"type":"text","text":"a"}`},
		{`[{"type":"text","text":"a"}]`, SamplingContent{Text("a")}, `{"type":"text","text":"a"}`},
		{`[{"type":"text","text":"a"},{"type":"text","text":"b"}]`, SamplingContent{Text("a"), Text("b")},
			`[{"type":"text","text":"a"},{"type":"text","text":"b"}]`},
		{`[]`, SamplingContent{}, `[]`},
	} {
		var got SamplingContent
		if err := json.Unmarshal([]byte(c.text), &got); err != nil {
			t.Errorf("%s: %v", c.text, err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.text, diff)
		}
		if back, err := json.Marshal(got); err != nil || string(back) != c.back {
			t.Errorf("%s is written %s, %v, want %s", c.text, back, err, c.back)
		}
	}
}

func TestResourceContentsAreTextOrBlob(t *testing.T) {
	for want, c := range map[string]ResourceContents{
		`{"uri":"u","text":""}`:             {URI: "u"},
		`{"uri":"u","text":"t"}`:            {URI: "u", Text: "t"},
		`{"uri":"u","blob":""}`:             {URI: "u", Blob: new("")},
		`{"uri":"u","blob":"AA=="}`:         {URI: "u", Blob: new("AA==")},
		`{"uri":"u","text":"t","blob":"b"}`: {URI: "u", Text: "t", Blob: new("b")},
	} {
		text, err := json.Marshal(c)
		if err != nil || string(text) != want {
			t.Errorf("%+v is written %s, %v, want %s", c, text, err, want)
		}
		var got ResourceContents
		if err := json.Unmarshal(text, &got); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if diff := cmp.Diff(c, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
	if got := *BlobContents([]byte{0, 0xfb, 0xff}).Blob; got != "APv/" {
		t.Errorf("a blob is encoded %q, want base64", got)
	}
	var c ResourceContents
	if err := json.Unmarshal([]byte(`{"uri":"u"}`), &c); err == nil {
		t.Error("neither text nor blob is accepted, want an error")
	}
}
