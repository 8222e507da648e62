package toolargs

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/mcpotel/mcpotel/internal/visible"
)

// CheckObject returns an error that shows the place of the fault if text is not exactly one JSON object.
func CheckObject(where string, text []byte) error {
	d := jsontext.NewDecoder(bytes.NewReader(text))
	value, err := d.ReadValue()
	kind := value.Kind()
	if err == nil && kind != '{' {
		return fmt.Errorf("%s: not a JSON object, but %s: %s", where, KindName(kind), excerpt(text, 0))
	}
	offset := int64(0)
	if err == nil {
		offset = d.InputOffset()
		if _, err = d.ReadToken(); err == io.EOF {
			return nil
		}
		err = cmp.Or(err, errors.New("more than one value"))
	}
	if e, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		offset, err = e.ByteOffset, e.Err
	}
	if err == io.ErrUnexpectedEOF || err == io.EOF {
		offset, err = int64(len(bytes.TrimRight(text, " \t\r\n"))), errors.New("unexpected end of the text")
	}
	before := text[:min(max(offset, 0), int64(len(text)))]
	line := bytes.Count(before, []byte("\n")) + 1
	column := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
	return fmt.Errorf("%s: not a JSON object: line %d, column %d: %w\n%s", where, line, column, err,
		excerpt(text, len(before)))
}

// excerpt returns up to 40 characters on each side of offset, from the same line. A second line marks the offset.
func excerpt(text []byte, offset int) string {
	const near = 40
	begin := bytes.LastIndexByte(text[:offset], '\n') + 1
	end := len(text)
	if i := bytes.IndexByte(text[offset:], '\n'); i >= 0 {
		end = offset + i
	}
	before, behind := []rune(string(text[begin:offset])), []rune(string(text[offset:end]))
	head, tail := "", ""
	if len(before) > near {
		head, before = "…", before[len(before)-near:]
	}
	if len(behind) > near {
		behind, tail = behind[:near], "…"
	}
	shown := head + strings.Map(blankTab, string(before))
	return visible.Text(shown+strings.Map(blankTab, string(behind))+tail) + "\n" +
		strings.Repeat(" ", utf8.RuneCountInString(shown)) + "^"
}

// blankTab replaces tabs and carriage returns with spaces, so that the ^ under an excerpt stays aligned.
func blankTab(r rune) rune {
	if r == '\t' || r == '\r' {
		return ' '
	}
	return r
}

// KindName returns the words for a JSON value of a kind: "an array".
func KindName(k jsontext.Kind) string {
	return map[jsontext.Kind]string{'{': "an object", '[': "an array", '"': "a string", '0': "a number", 't': "true",
		'f': "false", 'n': "null"}[k]
}
