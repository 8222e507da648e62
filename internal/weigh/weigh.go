// Package weigh estimates how much memory a JSON text takes as Go values, before it is decoded: two bytes of text may
// become hundreds. The estimate is cheap for texts that are short or have few values. Only dense texts are scanned byte
// by byte.
package weigh

import (
	"bytes"
	"errors"
	"fmt"
)

const (
	// Free is the number of bytes of memory that the values of any text may take.
	Free = 128 << 20

	// Factor is the number of bytes of memory that values may take for each byte of the text, if this gives more than
	// [Free].
	Factor = 8
)

// ErrTooMuch is the error for a text that is small as JSON and large as Go values.
var ErrTooMuch = errors.New("too much memory as Go values")

// Weights are upper estimates of the bytes of memory that values take while a text is decoded into them. They do not
// include the contents of strings, which are no larger than the text. [Of] returns the weights of a type.
type Weights struct {
	scalar  int // string, number or boolean in a list
	element int // any other element of a list, or an object behind a pointer
	entry   int // entry of a map; 0 if no object becomes a map
}

const (
	word = 8 // bytes

	grown     = 2        // a list exists twice while it is copied into a larger one
	box       = 2 * word // number or string header, in an interface or behind a pointer
	mapHeader = 6 * word
	mapGroup  = 8   // number of map entries that are allocated together
	perName   = 100 // memory to detect a duplicate of a name
	manyNames = 32  // below this number, detecting duplicate names takes no extra memory
	shortest  = 2   // bytes of the shortest value and its comma
)

// Any has the weights of a value of type any.
var Any = Weights{scalar: grown*2*word + box, element: grown*2*word + 3*word, entry: 4 * word}

// Check returns [ErrTooMuch] if text must not be decoded into values with the weights w. The result is meaningless for
// text that is not valid JSON.
func (w Weights) Check(text []byte) error {
	limit := max(Free, Factor*len(text))
	each := max(w.scalar, w.element, box) + perName + grown*(w.entry+1) // a value and its share of a large object
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

// object returns the weight of an object with the given number of members, without their values.
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

// of returns the weight of a text, which it scans byte by byte.
func (w Weights) of(text []byte) (total int) {
	const array = -1
	open := make([]int, 1, 64) // for each open level: number of members of an object, or array
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

// single returns the weight of a string, a number or a boolean. The names in an object count, too.
func (w Weights) single(listed bool) int {
	if listed {
		return w.scalar
	}
	return box / 2
}

// stringEnd returns the offset of the closing quotation mark of the string at text[i].
func stringEnd(text []byte, i int) int {
	for i++; i < len(text) && text[i] != '"'; i++ {
		if text[i] == '\\' {
			i++
		}
	}
	return i
}

// scalarEnd returns the offset of the last byte of the number or word at text[i].
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
