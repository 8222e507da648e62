// Package visible makes a peer's text safe to display on a terminal or a page: the text can neither control the
// terminal nor imitate other output.
//
// It replaces C0 and C1 controls, DEL, characters that change the direction of the surrounding text, line and paragraph
// separators, and code points without a glyph. It keeps joiners, because scripts and emoji need them. It keeps at most
// four combining marks on a character; more would cover the surrounding lines.
package visible

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// maxMarks bounds the combining marks on one character.
const maxMarks = 4

// Rune reports whether r may be displayed unchanged. It reports false for line breaks and tabs, because the layout
// decides where they are allowed.
func Rune(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= ' ' && r < 0x7f
	}
	return unicode.IsGraphic(r) || r == '\u200c' || r == '\u200d'
}

// Map returns text with each unsafe character replaced by the result of the function instead; a negative result drops
// the character. Invalid UTF-8 becomes U+FFFD.
func Map(text []byte, instead func(rune) rune) []byte {
	if !slices.ContainsFunc(text, func(c byte) bool { return c < ' ' || c >= 0x7f }) {
		return text
	}
	shown := make([]byte, 0, len(text)+16)
	marks := 0
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		text = text[size:]
		if unicode.In(r, unicode.Mn, unicode.Me) {
			if marks++; marks > maxMarks {
				continue
			}
		} else {
			marks = 0
		}
		if !Rune(r) {
			r = instead(r)
		}
		if r >= 0 {
			shown = utf8.AppendRune(shown, r)
		}
	}
	return shown
}

// Line returns text as one line: line breaks and runs of spaces become one space.
func Line(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	return string(Map([]byte(text), func(rune) rune { return utf8.RuneError }))
}

// FirstLine returns the first non-empty line of text, in the form of Line.
func FirstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return Line(line)
}

// Short returns the result of Line. It cuts a result of more than most bytes and appends an ellipsis.
func Short(text string, most int) string {
	text = Line(text[:min(len(text), 4*most)]) // bounds the work; the rest would be cut anyway
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// Word returns a peer's name for use in a sentence: unchanged if it is one plain word, otherwise the result of Short in
// quotation marks, so that its end is visible.
func Word(text string, most int) string {
	if len(text) <= most && strings.Trim(text, plain) == "" {
		return text
	}
	return strconv.Quote(Short(text, most))
}

// plain has the characters of names that cannot be mistaken for a sentence.
const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:"

// Clean applies Short to every string in the value that v points to, including keys of maps. Use it for answers that
// consist of texts from peers and are passed on as data. Clean does not change unexported fields.
func Clean(v any, most int) { clean(reflect.ValueOf(v), most) }

func clean(v reflect.Value, most int) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			clean(v.Elem(), most)
		}
	case reflect.Interface:
		if !v.IsNil() && v.CanSet() {
			v.Set(cleaned(v.Elem(), most))
		}
	case reflect.String:
		if v.CanSet() {
			v.SetString(Short(v.String(), most))
		}
	case reflect.Struct:
		for _, field := range v.Fields() {
			clean(field, most)
		}
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return // bytes, such as JSON
		}
		for i := range v.Len() {
			clean(v.Index(i), most)
		}
	case reflect.Map:
		entries := maps.Collect(v.Seq2())
		v.Clear()
		for key, value := range entries {
			v.SetMapIndex(cleaned(key, most), cleaned(value, most))
		}
	}
}

// cleaned returns a clean copy of a value that cannot be set.
func cleaned(v reflect.Value, most int) reflect.Value {
	c := reflect.New(v.Type()).Elem()
	c.Set(v)
	clean(c, most)
	return c
}

// Text returns a safe form of text that keeps its line breaks and tabs.
func Text(text string) string {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	return string(Map([]byte(text), func(r rune) rune {
		if r == '\n' || r == '\t' {
			return r
		}
		return utf8.RuneError
	}))
}

// Indented returns the result of Text without surrounding space. All lines but the first are indented, so that none can
// imitate a line of the program that displays it.
func Indented(text string) string {
	lines := strings.Split(Text(strings.TrimSpace(text)), "\n")
	for i, line := range lines[1:] {
		if line != "" {
			lines[1+i] = "    " + line
		}
	}
	return strings.Join(lines, "\n")
}

// JSON returns the same JSON text with every unsafe character as its \u escape. raw must be valid JSON.
func JSON(raw []byte) []byte {
	shown := make([]byte, 0, len(raw)+16)
	for len(raw) > 0 {
		r, size := utf8.DecodeRune(raw)
		switch {
		case Rune(r), r == '\n', r == '\t':
			shown = append(shown, raw[:size]...)
		case r == '\r': // only between tokens
			shown = append(shown, ' ')
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			shown = fmt.Appendf(shown, `\u%04x\u%04x`, high, low)
		default:
			shown = fmt.Appendf(shown, `\u%04x`, r)
		}
		raw = raw[size:]
	}
	return shown
}
