package jsonscan

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
	"unsafe"
)

// Alias returns a string that shares the memory of b. It is the only place where this module lets a string point into
// a frame, and the rule is ownership: whoever calls it owns b and gives it up, so that from then on nobody writes to
// those bytes or puts them into a pool. The string keeps the whole frame in memory; [strings.Clone] it to keep ten bytes
// of sixteen million.
func Alias(b []byte) string {
	return unsafe.String(unsafe.SliceData(b), len(b))
}

// Text validates and decodes the string at b[i], leading space skipped, in place: the bytes of the string in b are
// overwritten with what they mean, and s points to them, under the rule of [Alias]. So b must be the caller's own, and
// the same string must not be read a second time. The error is a [*SyntaxError], or a [*TypeError] for any other value.
func Text(b []byte, i int) (s string, end int, err error) {
	i = Space(b, i)
	if at(b, i) != '"' {
		return "", i, mistyped(b, i, "string")
	}
	end, escaped, err := String(b, i)
	if err != nil {
		return "", end, err
	}
	s = Alias(b[i+1 : end-1])
	if escaped {
		s = Alias(Unquote(b[i+1 : end-1]))
	}
	return s, end, nil
}

// Unquote replaces the escapes of b, the contents of a validated string without its quotes, in place, and returns the
// part of b that holds the result, with its capacity cut. A surrogate escape without its other half becomes U+FFFD.
func Unquote(b []byte) []byte {
	r := backslash(b, 0)
	w := r
	for r < len(b) {
		if c := unescaped[b[r+1]]; c != 0 {
			b[w] = c
			r, w = r+2, w+1
		} else {
			u, n := unescapeRune(b[r:])
			r, w = r+n, w+utf8.EncodeRune(b[w:r+6], u)
		}
		r, w = slide(b, r, w)
	}
	return b[:w:w]
}

// backslash returns the offset of the first backslash from b[i] on, or len(b).
func backslash(b []byte, i int) int {
	for ; len(b)-i >= 8; i += 8 {
		if m := backslashes(binary.LittleEndian.Uint64(b[i:])); m != 0 {
			return i + bits.TrailingZeros64(m)/8
		}
	}
	for i < len(b) && b[i] != '\\' {
		i++
	}
	return i
}

// backslashes marks the first byte of w (in little-endian order) that is a backslash with its high bit; marks behind
// the first may be wrong.
func backslashes(w uint64) uint64 {
	w ^= ones * '\\'
	return (w - ones) & ^w & highs
}

// slide moves the bytes from b[r] up to the next backslash to b[w], w below r, and returns the offsets behind both.
func slide(b []byte, r, w int) (int, int) {
	for len(b)-r >= 8 {
		word := binary.LittleEndian.Uint64(b[r:])
		m := backslashes(word)
		if m == 0 {
			binary.LittleEndian.PutUint64(b[w:], word)
			r, w = r+8, w+8
			continue
		}
		n := bits.TrailingZeros64(m) / 8
		if w+8 <= r+n { // the bytes behind the nth go where all has been read
			binary.LittleEndian.PutUint64(b[w:], word)
			return r + n, w + n
		}
		for k := range n {
			b[w+k] = b[r+k]
		}
		return r + n, w + n
	}
	for r < len(b) && b[r] != '\\' {
		b[w] = b[r]
		r, w = r+1, w+1
	}
	return r, w
}

// unescaped is what an escape of two bytes means, by its letter.
var unescaped = [256]byte{
	'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t',
}

// unescapeRune returns the rune that the \u escape at the beginning of b, or the surrogate pair of two, stands for, and
// the number of bytes it takes.
func unescapeRune(b []byte) (r rune, n int) {
	r = hex4(b[2:6])
	if r < 0xd800 || r > 0xdfff {
		return r, 6
	}
	if r < 0xdc00 && len(b) >= 12 && b[6] == '\\' && b[7] == 'u' {
		if low := hex4(b[8:12]); low >= 0xdc00 && low <= 0xdfff {
			return (r-0xd800)<<10 | (low - 0xdc00) + 0x10000, 12
		}
	}
	return utf8.RuneError, 6
}

func hex4(b []byte) (r rune) {
	for _, c := range b {
		r = r<<4 | hexDigit(c)
	}
	return r
}
