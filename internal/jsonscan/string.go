package jsonscan

import (
	"encoding/binary"
	"math/bits"
)

// String validates the string with the opening quote b[i] and returns the offset behind its closing quote. escaped
// reports whether the string contains an escape, that is, whether its value differs from b[i+1:end-1].
func String(b []byte, i int) (end int, escaped bool, err error) {
	if at(b, i) != '"' {
		return i, false, unexpected(b, i)
	}
	i++
	// Fast path: names and most values fit into two words.
	for range 2 {
		if len(b)-i < 8 {
			break
		}
		m := special(binary.LittleEndian.Uint64(b[i:]))
		if m == 0 {
			i += 8
			continue
		}
		if i += bits.TrailingZeros64(m) / 8; b[i] == '"' {
			return i + 1, false, nil
		}
		break
	}
	return contents(b, i)
}

// contents validates the rest of a string from b[i] on and returns the results of [String].
func contents(b []byte, i int) (end int, escaped bool, err error) {
	for {
		if i, err = unescaping(b, i); err != nil {
			return i, escaped, err
		}
		if b[i] == '"' {
			return i + 1, escaped, nil
		}
		escaped = true
		if len(b)-i > 1 && unescaped[b[i+1]] != 0 {
			i += 2
		} else if i, err = escapedRune(b, i); err != nil {
			return i, true, err
		}
	}
}

// unescaping validates a string's contents from b[i] on, up to the first backslash or, without one, the closing quote.
// It returns the offset of that byte.
func unescaping(b []byte, i int) (int, error) {
	for {
		if len(b)-i < 8 {
			i = plain(b, i)
		} else if m := special(binary.LittleEndian.Uint64(b[i:])); m != 0 {
			i += bits.TrailingZeros64(m) / 8
		} else {
			i = plain(b, i+8)
		}
		c := at(b, i)
		if c == '"' || c == '\\' {
			return i, nil
		}
		if c < 0x80 {
			return i, unexpected(b, i)
		}
		var err error
		if i, err = multibyte(b, i); err != nil {
			return i, err
		}
	}
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// special sets the high bit of the first byte of w (in little-endian order) that needs special handling: a quote, a
// backslash, a control character, or a part of a multi-byte rune. The bits of bytes behind the first may be wrong.
func special(w uint64) uint64 { return specials(w) & highs }

// specials is like special, but leaves meaningless bits between the high bits. XOR with flip maps the quote to 0x20,
// next to the control characters, which stay below 0x20: one comparison finds both.
func specials(w uint64) uint64 {
	const flip = '"' ^ ' '
	return w | (w ^ ones*flip - ones*(' '+1)) | (w ^ ones*'\\' - ones)
}

// plain returns the offset of the first special byte from b[i] on, or len(b).
func plain(b []byte, i int) int {
	for len(b)-i >= 32 {
		s := b[i : i+32]
		m0 := specials(binary.LittleEndian.Uint64(s))
		m1 := specials(binary.LittleEndian.Uint64(s[8:]))
		m2 := specials(binary.LittleEndian.Uint64(s[16:]))
		m3 := specials(binary.LittleEndian.Uint64(s[24:]))
		if (m0|m1|m2|m3)&highs != 0 {
			break
		}
		i += 32
	}
	for ; len(b)-i >= 8; i += 8 {
		if m := special(binary.LittleEndian.Uint64(b[i:])); m != 0 {
			return i + bits.TrailingZeros64(m)/8
		}
	}
	for i < len(b) && isPlain(b[i]) {
		i++
	}
	return i
}

// isPlain reports whether c is not special.
func isPlain(c byte) bool { return c-' ' < 0x80-' ' && c != '"' && c != '\\' }

// escapedRune validates the \u escape with the backslash b[i] and returns the offset behind it.
func escapedRune(b []byte, i int) (int, error) {
	if at(b, i+1) != 'u' {
		return i + 1, unexpected(b, i+1)
	}
	for k := i + 2; k < i+6; k++ {
		if hexDigit(at(b, k)) < 0 {
			return k, unexpected(b, k)
		}
	}
	return i + 6, nil
}

// hexDigit returns the value of the hexadecimal digit c, or a negative number for any other byte.
func hexDigit(c byte) rune {
	switch {
	case isDigit(c):
		return rune(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return rune(c|0x20-'a') + 10
	}
	return -1
}

// multibyte validates the run of multi-byte runes at b[i] and returns the offset behind it. Truncated and overlong
// runes, surrogates, and runes above U+10FFFF are invalid.
func multibyte(b []byte, i int) (int, error) {
	for i < len(b) && b[i] >= 0x80 {
		w := word32(b, i)
		switch {
		case w&0xc0c0f0 == 0x8080e0:
			r := w&0x0f<<6 | w>>8&0x3f // the rune without its last six bits
			if r < 0x800>>6 || r>>5 == 0xd800>>11 {
				return i, invalidUTF8(i)
			}
			i += 3
		case w&0xc0e0 == 0x80c0 && w&0x1e != 0:
			i += 2
		case w&0xc0c0c0f8 == 0x808080f0:
			r := w&0x07<<6 | w>>8&0x3f // the rune without its last twelve bits
			if r < 0x10000>>12 || r > 0x10ffff>>12 {
				return i, invalidUTF8(i)
			}
			i += 4
		default:
			return i, invalidUTF8(i)
		}
	}
	return i, nil
}

// word32 returns the four bytes at b[i] in little-endian order. Bytes behind the end are zero.
func word32(b []byte, i int) (w uint32) {
	if len(b)-i >= 4 {
		return binary.LittleEndian.Uint32(b[i:])
	}
	for k, c := range b[i:] {
		w |= uint32(c) << (8 * k)
	}
	return w
}

func invalidUTF8(i int) error { return &SyntaxError{Offset: i, Reason: "invalid UTF-8"} }
