// Package weigh says how much memory a JSON text takes as Go values, before it is decoded: two bytes of text may become
// hundreds. It is cheap where a text is too short to be too much or holds few values, whatever it says; then only those
// that are dense are looked at byte by byte.
package weigh

import (
	"bytes"
	"errors"
	"fmt"
)

const (
	// Free is how many bytes of memory the values of any text may take.
	Free = 128 << 20

	// Factor is how many bytes of memory they may take for each byte of the text, if that is more than [Free].
	Factor = 8
)

// ErrTooMuch is the error for a text that is small as JSON and large as Go values.
var ErrTooMuch = errors.New("too much memory as Go values")

// Weights say how many bytes of memory values take while a text is decoded into them, on the high side. The strings
// themselves are not counted: they are no larger than the text. [Of] returns those of a type.
type Weights struct {
	scalar  int // a string, a number or a boolean in a list
	element int // anything else in a list, or an object behind a pointer
	entry   int // of a map; 0 if no object becomes one
}

const (
	word = 8 // bytes

	grown     = 2        // a list is there twice while it is copied into a larger one
	box       = 2 * word // a number or the head of a string, in an interface or behind a pointer
	mapHeader = 6 * word
	mapGroup  = 8   // entries are allocated together, so many at least
	perName   = 100 // what is remembered of a name to find it twice
	manyNames = 32  // fewer names are remembered in passing
	shortest  = 2   // bytes of a value and its comma
)

// Any are the weights of a value of type any.
var Any = Weights{scalar: grown*2*word + box, element: grown*2*word + 3*word, entry: 4 * word}

// Check reports whether text may be decoded into values that weigh w. The error is an [ErrTooMuch]. What it says of a
// text that is not valid JSON means nothing.
func (w Weights) Check(text []byte) error {
	limit := max(Free, Factor*len(text))
	each := max(w.scalar, w.element, box) + perName + grown*(w.entry+1) // a value, and what a large object takes for it
	object := max(w.object(0), w.object(mapGroup))                      // a small object
	if len(text)/shortest*max(each, object) <= limit {
		return nil
	}
	objects := bytes.Count(text, []byte("{"))
	values := bytes.Count(text, []byte(",")) + bytes.Count(text, []byte("[")) + objects + 1
	if objects*object+values*each <= limit || w.of(text) <= limit {
		return nil
	}
	return fmt.Errorf("%d KiB of JSON take %w, more than %d MiB", len(text)>>10, ErrTooMuch, limit>>20)
}

// object is the weight of an object with so many members, without what is in them.
func (w Weights) object(members int) int {
	n := w.element
	switch {
	case w.entry > 0 && members > mapGroup:
		n += mapHeader + grown*members*(w.entry+1)
	case w.entry > 0:
		n += mapHeader + min(members, 1)*mapGroup*(w.entry+1)
	}
	if members > manyNames {
		n += perName * members
	}
	return n
}

// of weighs a text byte by byte.
func (w Weights) of(text []byte) (total int) {
	const array = -1
	open := make([]int, 1, 64) // how many members each open object has, or array
	for i := 0; i < len(text); i++ {
		top := len(open) - 1
		switch c := text[i]; c {
		case '{':
			open = append(open, 0)
		case '[':
			open = append(open, array)
			total += w.element
		case '}', ']':
			if top == 0 {
				return total
			}
			if n := open[top]; n != array {
				total += w.object(n)
			}
			open = open[:top]
		case ':':
			open[top]++
		case '"':
			i = stringEnd(text, i)
			total += w.single(open[top] == array)
		case 'n':
			total += w.element
			i = scalarEnd(text, i)
		case 't', 'f', '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
			total += w.single(open[top] == array)
			i = scalarEnd(text, i)
		}
	}
	return total
}

// single is the weight of a string, a number or a boolean. The names in an object count as well.
func (w Weights) single(listed bool) int {
	if listed {
		return w.scalar
	}
	return box / 2
}

// stringEnd returns where the quotation mark is that ends the string at text[i].
func stringEnd(text []byte, i int) int {
	for i++; i < len(text) && text[i] != '"'; i++ {
		if text[i] == '\\' {
			i++
		}
	}
	return i
}

// scalarEnd returns where the last byte is of the number or word at text[i].
func scalarEnd(text []byte, i int) int {
	for i+1 < len(text) {
		switch text[i+1] {
		case ',', ']', '}', ' ', '\t', '\n', '\r':
			return i
		}
		i++
	}
	return i
}
