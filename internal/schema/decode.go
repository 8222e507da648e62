package schema

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"math"
	"math/bits"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/mcpotel/mcpotel/internal/jsonscan"
)

// decode reads data as exactly one JSON value, nested at most depth deep. It returns a problem if data is not JSON, is
// nested too deep, has a duplicate name, or, unless anyNumber is set, has a number beyond the range of float64. An
// escaped lone surrogate becomes U+FFFD, as on the wire. The error is the error of the meter. The value refers to data,
// which must not change.
func (m *meter) decode(data []byte, depth int, anyNumber bool) (value, *Problem, error) {
	if uint64(len(data)) > math.MaxUint32 {
		return value{}, &Problem{Message: "larger than 4 GiB"}, nil
	}
	doc := &document{text: data}
	doc.parts = doc.room[:0]
	if n := doc.most(); n > len(doc.room) {
		doc.parts = make([]part, 0, n)
	}
	d := decoder{m, doc, anyNumber}
	end := d.value(jsonscan.Space(data, 0), depth)
	switch {
	case m.err != nil:
		return value{}, nil, m.err
	case end < 0 || jsonscan.Rest(data, end) != nil:
		return value{}, problem(data, depth, anyNumber), nil
	}
	return value{doc, 0}, nil, nil
}

// most returns an upper bound of the number of parts in the document. Each part takes at least two bytes of the text.
func (d *document) most() (n int) {
	for _, separator := range []string{",", ":", "{", "["} {
		n += bytes.Count(d.text, []byte(separator))
	}
	return min(n, len(d.text)/2) + 1
}

type decoder struct {
	*meter
	*document
	anyNumber bool
}

// value reads the value at text[i] and returns the offset behind it, or a negative number if the text is invalid there.
func (d *decoder) value(i, depth int) (end int) {
	if !d.pay(1) || i >= len(d.text) {
		return -1
	}
	switch c := d.text[i]; c {
	case '{', '[':
		return d.container(i, depth-1)
	case '"':
		return d.string(i)
	default:
		end, err := jsonscan.Value(d.text, i)
		if err != nil {
			return -1
		}
		k, ok := kind(c), true
		if c == '-' || c <= '9' {
			k, ok = kindOfNumber(d.text[i:end])
		}
		if !ok && !d.anyNumber {
			return -1
		}
		d.add(k, false, i, end)
		return end
	}
}

func (d *decoder) add(k kind, escaped bool, from, to int) {
	d.parts = append(d.parts, part{k, escaped, uint32(from), uint32(to)})
}

// string reads the string at text[i] and returns the offset behind it, or a negative number on an error.
func (d *decoder) string(i int) (end int) {
	end, escaped, err := jsonscan.String(d.text, i)
	switch {
	case err != nil:
		return -1
	case !escaped:
		d.add('"', false, i+1, end-1)
		return end
	}
	from := len(d.unquoted)
	d.unquoted = append(d.unquoted, d.text[i+1:end-1]...)
	d.unquoted = d.unquoted[:from+len(jsonscan.Unquote(d.unquoted[from:]))]
	d.add('"', true, from, len(d.unquoted))
	return end
}

// container reads the array or the object at text[i], with at most depth further levels of nesting inside it. It
// returns the offset behind the array or object, or a negative number on an error.
func (d *decoder) container(i, depth int) (end int) {
	if depth < 0 {
		return -1
	}
	at, closing := len(d.parts), d.text[i]+'}'-'{' // ] for [: the distance between the brackets is the same
	d.add(kind(d.text[i]), false, 0, 0)
	count, marks := 0, uint64(0)
	i = jsonscan.Space(d.text, i+1)
	for ; i < len(d.text) && d.text[i] != closing; count++ {
		if count > 0 {
			if d.text[i] != ',' {
				return -1
			}
			i = jsonscan.Space(d.text, i+1)
		}
		if closing == '}' {
			i = d.name(i, at, count, &marks)
		}
		if i >= 0 {
			i = d.value(i, depth)
		}
		if i < 0 {
			return -1
		}
		i = jsonscan.Space(d.text, i)
	}
	if i == len(d.text) || closing == '}' && count > maxScanned && !d.index(at, count) {
		return -1
	}
	d.parts[at].from, d.parts[at].to = uint32(len(d.parts)), uint32(count)
	return i + 1
}

// name reads the name of a property at text[i] and the colon behind it. count properties of the object precede it.
func (d *decoder) name(i, object, count int, marks *uint64) (end int) {
	at := len(d.parts)
	i = d.string(i)
	if i < 0 || d.repeats(at, object, count, marks) {
		return -1
	}
	if i = jsonscan.Space(d.text, i); i == len(d.text) || d.text[i] != ':' {
		return -1
	}
	return jsonscan.Space(d.text, i+1)
}

// repeats reports whether the name at the part at occurs among the properties before it. It checks only the first
// maxScanned properties; index checks larger objects. marks has one bit for each hash of an earlier name, which makes
// most comparisons unnecessary.
func (d *decoder) repeats(at, object, count int, marks *uint64) bool {
	if count >= maxScanned {
		return false
	}
	name, mark := value{d.document, at}.bytes(), uint64(1)
	if n := len(name); n > 0 {
		mark <<= (n*31 + int(name[0])*7 + int(name[n-1])) % 64
	}
	if *marks&mark == 0 {
		*marks |= mark
		return false
	}
	before := value{d.document, object + 1}
	for range count {
		if bytes.Equal(before.bytes(), name) {
			return true
		}
		before = before.next().after()
	}
	return false
}

// index builds the hash table of an object's names. It reports false if a name repeats or the budget does not suffice.
func (d *decoder) index(object, count int) bool {
	if !d.pay(count * unit) {
		return false
	}
	table := make([]uint32, 1<<bits.Len(uint(2*count)))
	name := value{d.document, object + 1}
	for range count {
		slot := d.slot(table, name.bytes())
		if table[slot] != 0 {
			return false
		}
		table[slot] = uint32(name.at)
		name = name.next().after()
	}
	if d.names == nil {
		d.names = map[int][]uint32{}
	}
	d.names[object] = table
	return true
}

// Reasons to reject a text that may be valid JSON.
var (
	errMore  = errors.New("more than one value")
	errDeep  = errors.New("nested too deep")
	errRange = errors.New("number out of range")
)

// problem describes where and why decode rejects data.
func problem(data []byte, depth int, anyNumber bool) *Problem {
	if !utf8.Valid(data) {
		return &Problem{Message: "not JSON: invalid UTF-8"}
	}
	dec := jsontext.NewDecoder(bytes.NewBuffer(data), jsontext.AllowInvalidUTF8(true))
	err := fault(dec, depth, anyNumber)
	at, message := dec.StackPointer(), err.Error()
	if se, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		at, message = se.JSONPointer, "not JSON: "+se.Err.Error()
	}
	if err == io.EOF {
		message = "not JSON: empty"
	}
	var path strings.Builder
	for name := range at.Tokens() {
		path.WriteString(token(clip(name, maxShown)))
	}
	return &Problem{Instance: path.String(), Message: clip(message, maxText)}
}

// fault returns the error of the first token that decode rejects.
func fault(dec *jsontext.Decoder, depth int, anyNumber bool) error {
	for {
		tok, err := dec.ReadToken()
		switch {
		case err != nil:
			return err
		case dec.StackDepth() > depth:
			return errDeep
		case tok.Kind() == '0' && !anyNumber && outOfRange(tok.String()):
			return errRange
		case dec.StackDepth() == 0:
			_, err := dec.ReadToken()
			return cmp.Or(err, errMore)
		}
	}
}

func outOfRange(number string) bool {
	_, err := strconv.ParseFloat(number, 64)
	return err != nil
}
