package jsonscan

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
	"unsafe"
)

// Alias returns a string that shares the memory of b. It is the only place where this module lets a string point into a
// frame. The rule is ownership: the caller owns b and gives b up. From then on, no code may write to these bytes or put
// them into a pool. The string keeps the whole frame in memory; call [strings.Clone] to keep ten bytes instead of
// sixteen million.
func Alias(b []byte) string {
	return unsafe.String(unsafe.SliceData(b), len(b))
}

// Text validates and decodes the string at b[i] in place, skipping leading space. It overwrites the string's bytes in b
// with the decoded text, and s points to them, under the rule of [Alias]. So the caller must own b, and must not read
// the same string twice. The error is a [*SyntaxError], or a [*TypeError] for any other value.
func Text(b []byte, i int) (s string, end int, err error) {
	i = Space(b, i)
	if at(b, i) != '"' {
		return "", i, mistyped(b, i, "string")
	}
	start := i + 1
	if end, err = unescaping(b, start); err != nil {
		return "", end, err
	}
	w := end
	if b[end] == '\\' {
		if end, w, err = unescape(b, end); err != nil {
			return "", end, err
		}
	}
	return Alias(b[start:w]), end + 1, nil
}

// Unquote decodes the escapes of b, the contents of a validated string without its quotes, in place. It returns the
// part of b that holds the result; the capacity of this part is its length. A surrogate escape without its other half
// becomes U+FFFD.
func Unquote(b []byte) []byte {
	_, w, _ := unescape(b, 0) // the only possible error is the missing closing quote
	return b[:w:w]
}

// unescape validates the contents of a string from b[i] on and decodes the escapes in the same pass. It returns the
// offsets of the closing quote and of the end of the decoded contents.
func unescape(b []byte, i int) (end, w int, err error) {
	r := i
	w = i
	for {
		r, w = slide(b, r, w)
		switch c := at(b, r); {
		case c == '"':
			return r, w, nil
		case c == '\\' && len(b)-r > 1 && unescaped[b[r+1]] != 0:
			b[w] = unescaped[b[r+1]]
			r, w = r+2, w+1
		case c == '\\':
			if end, err = escapedRune(b, r); err != nil {
				return end, w, err
			}
			u, n := unescapeRune(b[r:])
			r, w = r+n, w+utf8.EncodeRune(b[w:r+6], u)
		case c >= 0x80:
			if end, err = multibyte(b, r); err != nil {
				return end, w, err
			}
			r, w = end, w+copy(b[w:], b[r:end])
		default:
			return r, w, unexpected(b, r)
		}
	}
}

// slide moves the bytes from b[r] up to the next special byte to b[w], where w <= r. It returns the offsets behind the
// source and behind the target.
func slide(b []byte, r, w int) (int, int) {
	for len(b)-r >= 8 {
		word := binary.LittleEndian.Uint64(b[r:])
		if m := special(word); m != 0 {
			n := bits.TrailingZeros64(m) / 8
			if w+8 > r+n { // writing a whole word would overwrite unread bytes
				return r + n, w + copy(b[w:], b[r:r+n])
			}
			binary.LittleEndian.PutUint64(b[w:], word)
			return r + n, w + n
		}
		binary.LittleEndian.PutUint64(b[w:], word)
		r, w = r+8, w+8
		for len(b)-r >= 32 {
			from, to := b[r:r+32], b[w:w+32]
			w0 := binary.LittleEndian.Uint64(from)
			w1 := binary.LittleEndian.Uint64(from[8:])
			w2 := binary.LittleEndian.Uint64(from[16:])
			w3 := binary.LittleEndian.Uint64(from[24:])
			if (specials(w0)|specials(w1)|specials(w2)|specials(w3))&highs != 0 {
				break
			}
			binary.LittleEndian.PutUint64(to, w0)
			binary.LittleEndian.PutUint64(to[8:], w1)
			binary.LittleEndian.PutUint64(to[16:], w2)
			binary.LittleEndian.PutUint64(to[24:], w3)
			r, w = r+32, w+32
		}
	}
	for r < len(b) && isPlain(b[r]) {
		b[w] = b[r]
		r, w = r+1, w+1
	}
	return r, w
}

// unescaped maps the letter of a two-byte escape to its meaning.
var unescaped = [256]byte{
	'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t',
}

// unescapeRune decodes the \u escape at the beginning of b, or the two escapes of a surrogate pair. It returns the rune
// and the number of decoded bytes.
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
