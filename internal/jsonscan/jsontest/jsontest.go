// Package jsontest generates JSON texts for property tests, and mutates them. Only tests import it.
package jsontest

import (
	"bytes"
	"slices"
	"strings"
)

// Choose returns one of the integers from 0 to n-1. The test makes the choice, so that it can shrink a failing case.
type Choose func(n int) int

func pick(choose Choose, from []string) string { return from[choose(len(from))] }

// Value generates a valid JSON value, with spaces between its tokens. It picks names and strings from a short list, so
// that they repeat. The list covers the difficult cases of a scanner: escapes, complete and lone surrogates, multi-byte
// runes, and the names in envelopes.
func Value(choose Choose) []byte {
	var b bytes.Buffer
	write(choose, &b, choose(5))
	return b.Bytes()
}

// Object generates a valid JSON object like [Value].
func Object(choose Choose) []byte {
	var b bytes.Buffer
	writeObject(choose, &b, 1+choose(3))
	return b.Bytes()
}

var scalars = []string{
	"null", "true", "false", "0", "-0", "7", "-1", "1.5", "1e3", "1E-2", "9007199254740993", "-9223372036854775808",
	"9223372036854775808", `""`, `"\u0000"`, `"text that is longer than one word of eight bytes"`,
}

var texts = []string{
	"a", "id", "jsonrpc", "method", "params", "result", "error", "_meta", "name", "traceparent", "progressToken", "data",
	"2.0", `\"`, `\\`, `\\\"`, `\n`, `\u0069d`, `\ud83d\ude00`, `\ud83d`, `\ude00\ud83d`, "é", "観", "😀", "\x7f", "}", "{",
	",", `]`,
	strings.Repeat("x", 40),
}

var spaces = []string{"", "", "", " ", "\n", "\r\n\t "}

func space(choose Choose, b *bytes.Buffer) {
	b.WriteString(pick(choose, spaces))
}

func write(choose Choose, b *bytes.Buffer, depth int) {
	space(choose, b)
	defer space(choose, b)
	kinds := 2
	if depth > 0 {
		kinds = 4
	}
	switch choose(kinds) {
	case 0:
		b.WriteString(pick(choose, scalars))
	case 1:
		writeString(choose, b)
	case 2:
		writeObject(choose, b, depth)
	case 3:
		b.WriteByte('[')
		for i := range choose(4) {
			if i > 0 {
				b.WriteByte(',')
			}
			write(choose, b, depth-1)
		}
		b.WriteByte(']')
	}
}

func writeString(choose Choose, b *bytes.Buffer) {
	b.WriteByte('"')
	for range choose(4) {
		b.WriteString(pick(choose, texts))
	}
	b.WriteByte('"')
}

func writeObject(choose Choose, b *bytes.Buffer, depth int) {
	b.WriteByte('{')
	for i := range choose(5) {
		if i > 0 {
			b.WriteByte(',')
		}
		space(choose, b)
		b.WriteByte('"')
		b.WriteString(pick(choose, texts))
		b.WriteByte('"')
		space(choose, b)
		b.WriteByte(':')
		write(choose, b, depth-1)
	}
	b.WriteByte('}')
}

// spoilers are the texts that a mutation inserts.
var spoilers = []string{
	"\"", "\\", "{", "}", "[", "]", ",", ":", " ", "\n", "\x00", "\x1f", "\x7f", "\x80", "\xc0\xaf", "\xed\xa0\x80",
	"\xf4\x90\x80\x80",
	"\xe2\x82", "\xff", "0", "-", ".", "e", "+", "u", "null", "\ufeff", "\u2028",
}

// Mutate returns a copy of text with up to three mistakes: bytes that are changed, removed, inserted, swapped or
// repeated, or a truncated end.
func Mutate(choose Choose, text []byte) []byte {
	b := slices.Clone(text)
	for range 1 + choose(3) {
		at := choose(len(b) + 1)
		to := min(len(b), at+choose(5))
		switch choose(5) {
		case 0:
			b = slices.Replace(b, at, to, []byte(pick(choose, spoilers))...)
		case 1:
			b = slices.Insert(b, at, []byte(pick(choose, spoilers))...)
		case 2:
			b = slices.Delete(b, at, to)
		case 3:
			b = slices.Insert(b, at, slices.Clone(b[at:to])...)
		case 4:
			b = b[:at]
		}
	}
	return b
}
