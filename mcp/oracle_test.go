package mcp

import (
	"encoding/json"
	"errors"
	"math/big"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/mcpotel/mcpotel/internal/jsonscan"
)

// The oracle decodes the types in handDecoded with the JSON library alone, into types of its own. It differs from
// Decode in three deliberate ways:
//
//   - The oracle rejects a name that occurs twice anywhere. Decode rejects it only among the members that it knows;
//     see errOracleDuplicate.
//   - The oracle accepts null as an element of a list of strings. Decode rejects it.
//   - The oracle allows 1024 levels in total. Decode allows 1024 levels in each part that it keeps as raw JSON or
//     skips.

// errOracleDuplicate means that a name occurs twice, so that the oracle gives no verdict.
var errOracleDuplicate = errors.New("a name occurs twice")

func oracleUnmarshal(text []byte, v any) error {
	err := jsonv2.Unmarshal(text, v, decodeOptions, oracleIntegers)
	if errors.Is(err, jsontext.ErrDuplicateName) {
		return errOracleDuplicate
	}
	return err
}

// oracleIntegers makes the oracle read integers by value, and treat a hint that is not an integer as absent.
var oracleIntegers = jsonv2.WithUnmarshalers(jsonv2.UnmarshalFromFunc(func(d *jsontext.Decoder, p **int64) error {
	isHint := d.StackPointer().LastToken() != "ttl"
	raw, err := d.ReadValue()
	switch {
	case err != nil || raw[0] == 'n':
		return err
	case !isHint && raw[0] != '-' && (raw[0] < '0' || raw[0] > '9'):
		return errors.New("not a number")
	}
	if x, ok := new(big.Rat).SetString(string(raw)); ok && x.IsInt() && x.Num().IsInt64() {
		n := x.Num().Int64()
		*p = &n
	} else if !isHint {
		return errors.New("no integer")
	}
	return nil
}))

type oracleResult struct {
	Meta       json.RawMessage `json:"_meta"`
	ResultType string          `json:"resultType"`
}

func (o oracleResult) convert() (Result, error) {
	meta, err := oracleObject(o.Meta)
	return Result{Meta: Meta(meta), ResultType: ResultType(o.ResultType)}, err
}

// final reports whether required members must be present.
func (o oracleResult) final() bool { return o.ResultType == "" || o.ResultType == "complete" }

// oracleObject returns raw, which must be an object, or nil for null.
func oracleObject(raw json.RawMessage) (json.RawMessage, error) {
	if len(raw) == 0 || raw[0] == 'n' {
		return nil, nil
	}
	if raw[0] != '{' {
		return nil, errors.New("no object")
	}
	return raw, nil
}

// oracle decodes text into a new value of v's type.
func oracle(text []byte, v any) (any, error) {
	if err := jsonscan.Valid(text); err != nil { // checks levels and UTF-8
		return nil, err
	}
	switch v.(type) {
	case *CallToolResult:
		return oracleCallToolResult(text)
	case *GetPromptResult:
		return oracleGetPromptResult(text)
	case *ReadResourceResult:
		return oracleReadResourceResult(text)
	case *CallToolParams:
		return oracleCallToolParams(text)
	}
	r := new(ListToolsResult)
	if err := oracleUnmarshal(text, r); err != nil {
		return nil, err
	}
	if err := applyRules(r); err != nil && (r.ResultType == "" || r.ResultType == ResultComplete || r.Tools != nil) {
		return nil, err
	}
	return r, nil
}

func oracleCallToolResult(text []byte) (any, error) {
	var o struct {
		oracleResult
		Content           *[]json.RawMessage `json:"content"`
		StructuredContent json.RawMessage    `json:"structuredContent"`
		IsError           bool               `json:"isError"`
	}
	if err := oracleUnmarshal(text, &o); err != nil {
		return nil, err
	}
	base, err := o.convert()
	if err != nil {
		return nil, err
	}
	r := &CallToolResult{Result: base, StructuredContent: o.StructuredContent, IsError: o.IsError}
	if o.Content == nil {
		if o.final() {
			return nil, errors.New("no content")
		}
		return r, nil
	}
	r.Content, err = oracleList(*o.Content, true)
	return r, err
}

func oracleGetPromptResult(text []byte) (any, error) {
	var o struct {
		oracleResult
		Description string `json:"description"`
		Messages    []*struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
	}
	if err := oracleUnmarshal(text, &o); err != nil {
		return nil, err
	}
	base, err := o.convert()
	if err != nil {
		return nil, err
	}
	r := &GetPromptResult{Result: base, Description: o.Description}
	if o.Messages == nil {
		if o.final() {
			return nil, errors.New("no messages")
		}
		return r, nil
	}
	r.Messages = []*PromptMessage{}
	for _, m := range o.Messages {
		if m == nil || m.Role == "" {
			return nil, errors.New("no message or no role")
		}
		c, err := oracleContent(m.Content, true)
		if err != nil {
			return nil, err
		}
		r.Messages = append(r.Messages, &PromptMessage{Role: Role(m.Role), Content: c})
	}
	return r, nil
}

func oracleReadResourceResult(text []byte) (any, error) {
	var o struct {
		oracleResult
		CacheHint
		Contents *[]*oracleContents `json:"contents"`
	}
	if err := oracleUnmarshal(text, &o); err != nil {
		return nil, err
	}
	base, err := o.convert()
	if err != nil {
		return nil, err
	}
	r := &ReadResourceResult{Result: base, CacheHint: o.CacheHint}
	if o.Contents == nil {
		if o.final() {
			return nil, errors.New("no contents")
		}
		return r, nil
	}
	r.Contents = []*ResourceContents{}
	for _, c := range *o.Contents {
		converted, err := c.convert()
		if err != nil {
			return nil, err
		}
		r.Contents = append(r.Contents, converted)
	}
	return r, nil
}

func oracleCallToolParams(text []byte) (any, error) {
	var o struct {
		Meta           json.RawMessage `json:"_meta"`
		Name           string          `json:"name"`
		Arguments      json.RawMessage `json:"arguments"`
		Task           *TaskMetadata   `json:"task"`
		InputResponses InputResponses  `json:"inputResponses"`
		RequestState   *string         `json:"requestState"`
	}
	if err := oracleUnmarshal(text, &o); err != nil {
		return nil, err
	}
	meta, err := oracleObject(o.Meta)
	if err != nil {
		return nil, err
	}
	arguments, err := oracleObject(o.Arguments)
	if err != nil {
		return nil, err
	}
	if o.Name == "" {
		return nil, errors.New("no name")
	}
	p := &CallToolParams{Meta: Meta(meta), Name: o.Name, Task: o.Task,
		InputRound: InputRound{o.InputResponses, o.RequestState}}
	if arguments != nil {
		p.Arguments = arguments
	}
	return p, nil
}

type oracleContents struct {
	Meta     json.RawMessage `json:"_meta"`
	URI      string          `json:"uri"`
	MIMEType string          `json:"mimeType"`
	Text     *string         `json:"text"`
	Blob     *string         `json:"blob"`
}

func (o *oracleContents) convert() (*ResourceContents, error) {
	if o == nil || o.URI == "" || o.Text == nil && o.Blob == nil {
		return nil, errors.New("no contents, no uri, or neither text nor blob")
	}
	meta, err := oracleObject(o.Meta)
	if err != nil {
		return nil, err
	}
	c := &ResourceContents{Meta: Meta(meta), URI: o.URI, MIMEType: o.MIMEType, Blob: o.Blob}
	if o.Text != nil {
		c.Text = *o.Text
	}
	return c, nil
}

func oracleList(raws []json.RawMessage, outer bool) (ContentList, error) {
	list := ContentList{}
	for _, raw := range raws {
		c, err := oracleContent(raw, outer)
		if err != nil {
			return nil, err
		}
		list = append(list, c)
	}
	return list, nil
}

// oracleContent decodes one block. outer is false for a block in a tool result.
func oracleContent(raw json.RawMessage, outer bool) (Content, error) {
	var o struct {
		Type *string `json:"type"`
	}
	if len(raw) == 0 || raw[0] == 'n' {
		return nil, errors.New("no block")
	}
	if err := oracleUnmarshal(raw, &o); err != nil {
		return nil, err
	}
	if o.Type == nil {
		return nil, errors.New("no type")
	}
	switch *o.Type {
	case "text":
		return oracleText(raw)
	case "image", "audio":
		return oracleMedia(raw, *o.Type)
	case "resource_link":
		r := new(Resource)
		if err := oracleUnmarshal(raw, r); err != nil {
			return nil, err
		}
		return (*ResourceLink)(r), applyRules(r)
	case "resource":
		return oracleEmbedded(raw)
	case "tool_use":
		if outer {
			return oracleToolUse(raw)
		}
	case "tool_result":
		if outer {
			return oracleToolResult(raw)
		}
	}
	return &UnknownContent{Type: *o.Type, Raw: raw}, nil
}

type oracleBlock struct {
	Annotations *Annotations    `json:"annotations"`
	Meta        json.RawMessage `json:"_meta"`
}

func oracleText(raw []byte) (Content, error) {
	var o struct {
		oracleBlock
		Text *string `json:"text"`
	}
	if err := oracleUnmarshal(raw, &o); err != nil {
		return nil, err
	}
	meta, err := oracleObject(o.Meta)
	if err != nil || o.Text == nil {
		return nil, errors.Join(err, errors.New("no text"))
	}
	return &TextContent{*o.Text, o.Annotations, Meta(meta)}, nil
}

func oracleMedia(raw []byte, kind string) (Content, error) {
	var o struct {
		oracleBlock
		Data     *string `json:"data"`
		MIMEType *string `json:"mimeType"`
	}
	if err := oracleUnmarshal(raw, &o); err != nil {
		return nil, err
	}
	meta, err := oracleObject(o.Meta)
	if err != nil || o.Data == nil || o.MIMEType == nil {
		return nil, errors.Join(err, errors.New("no data or no mimeType"))
	}
	if kind == "image" {
		return &ImageContent{*o.Data, *o.MIMEType, o.Annotations, Meta(meta)}, nil
	}
	return &AudioContent{*o.Data, *o.MIMEType, o.Annotations, Meta(meta)}, nil
}

func oracleEmbedded(raw []byte) (Content, error) {
	var o struct {
		oracleBlock
		Resource *oracleContents `json:"resource"`
	}
	if err := oracleUnmarshal(raw, &o); err != nil {
		return nil, err
	}
	meta, err := oracleObject(o.Meta)
	if err != nil {
		return nil, err
	}
	contents, err := o.Resource.convert()
	return &EmbeddedResource{contents, o.Annotations, Meta(meta)}, err
}

func oracleToolUse(raw []byte) (Content, error) {
	var o struct {
		oracleBlock
		Annotations json.RawMessage `json:"annotations"` // without meaning here
		ID          string          `json:"id"`
		Name        string          `json:"name"`
		Input       json.RawMessage `json:"input"`
	}
	if err := oracleUnmarshal(raw, &o); err != nil {
		return nil, err
	}
	meta, err1 := oracleObject(o.Meta)
	input, err2 := oracleObject(o.Input)
	if o.ID == "" || o.Name == "" || input == nil || err1 != nil || err2 != nil {
		return nil, errors.Join(err1, err2, errors.New("no id, name or input"))
	}
	return &ToolUseContent{o.ID, o.Name, input, Meta(meta)}, nil
}

func oracleToolResult(raw []byte) (Content, error) {
	var o struct {
		Meta              json.RawMessage    `json:"_meta"`
		ToolUseID         string             `json:"toolUseId"`
		Content           *[]json.RawMessage `json:"content"`
		StructuredContent json.RawMessage    `json:"structuredContent"`
		IsError           bool               `json:"isError"`
	}
	if err := oracleUnmarshal(raw, &o); err != nil {
		return nil, err
	}
	meta, err := oracleObject(o.Meta)
	if o.ToolUseID == "" || o.Content == nil || err != nil {
		return nil, errors.Join(err, errors.New("no toolUseId or content"))
	}
	list, err := oracleList(*o.Content, false)
	return &ToolResultContent{o.ToolUseID, list, o.StructuredContent, o.IsError, Meta(meta)}, err
}
