package mcp

import (
	"github.com/mcpotel/mcpotel/internal/jsonscan"
)

// decoder decodes one value in place. The methods that decode a part of it take the offset where that part begins and
// return the offset behind it.
type decoder struct {
	b []byte

	strings int // in lists

	begun bool        // there has been a text
	list  ContentList // empty, for the first text

	texts       slab[TextContent]
	images      slab[ImageContent]
	links       slab[ResourceLink]
	embedded    slab[EmbeddedResource]
	annotations slab[Annotations]
	roles       slab[Role]
	contents    slab[ResourceContents]
	messages    slab[PromptMessage]
	tools       slab[Tool]
	hints       slab[ToolAnnotations]
	bools       slab[bool]
	floats      slab[float64]
}

// slab allocates values many at a time: first as few as are asked for, then twice as many each time, up to a bound that
// keeps small what a kept value keeps in memory.
type slab[T any] struct {
	free []T
	size int // of the last allocation
}

const slabBound = 512

// new returns a zero value.
func (s *slab[T]) new() *T { return &s.alloc(1)[0] }

// alloc returns n zero values, capacity cut.
func (s *slab[T]) alloc(n int) []T {
	if len(s.free) < n {
		s.size = max(min(2*s.size, slabBound), n)
		s.free = make([]T, s.size)
	}
	taken := s.free[:n:n]
	s.free = s.free[n:]
	return taken
}

// object walks over those members of an object that the decoders know and that are not null. It sees to it that none
// occurs twice.
type object struct {
	jsonscan.Object
	member member // the current one
	seen   uint64 // a bit for each member
	has    uint64 // likewise, nulls left out
}

func (d *decoder) objectAt(i int) object {
	return object{Object: jsonscan.ObjectAt(d.b, i)}
}

// next goes to the next member, false at the end and after an error.
func (o *object) next() bool {
	for o.Next() {
		o.member = memberOf(o.Key())
		if o.member == otherMember {
			continue
		}
		bit := uint64(1) << o.member
		if o.seen&bit != 0 {
			o.Fail(errDuplicate)
			return false
		}
		o.seen |= bit
		if o.member != memberStructuredContent && o.Null() {
			continue
		}
		o.has |= bit
		return true
	}
	return false
}

// end returns the offset behind the object, and an error if the walk ended early or if a member is missing whose bit is
// in required.
func (o *object) end(required uint64) (int, error) {
	if err := o.Err(); err != nil {
		if o.Key() != nil && !isSyntax(err) {
			err = within(string(o.Key()), err)
		}
		return o.End(), err
	}
	if missing := required &^ o.has; missing != 0 {
		for m := range members {
			if missing>>m&1 != 0 {
				return o.End(), within(memberNames[m], errMissing)
			}
		}
	}
	return o.End(), nil
}

// object returns the current value, which must be an object, as it is.
func (o *object) object() []byte {
	if c := o.First(); c != '{' {
		o.wrong("object")
		return nil
	}
	return o.Raw()
}

// name returns the current value, a string that counts as missing if it is empty.
func (o *object) name() string {
	s := o.Text()
	if s == "" {
		o.has &^= 1 << o.member
	}
	return s
}

// wrong reports that the current value is not what it must be, or not JSON at all.
func (o *object) wrong(want string) {
	if o.Raw(); o.Err() == nil {
		o.Fail(&jsonscan.TypeError{Offset: o.At(), Want: want})
	}
}

// resultType reads the current value, without allocating for the types that are defined.
func (o *object) resultType() ResultType {
	t, ok := resultType(o.Raw())
	if !ok {
		o.wrong("string")
	}
	return t
}

// array walks over an array and has each element decoded.
func (d *decoder) array(i int, element func(i int) (end int, err error)) (end int, err error) {
	a := jsonscan.ArrayAt(d.b, i)
	n := 0
	for a.Next() {
		end, err := element(a.At())
		if err != nil && !isSyntax(err) {
			err = withinElement(n, err)
		}
		if err != nil {
			return end, err
		}
		a.Take(end, nil)
		n++
	}
	return a.End(), a.Err()
}

// listed decodes a string in a list of short ones.
func (d *decoder) listed(i int) (s string, end int, err error) {
	if d.strings++; d.strings > maxObjects {
		return "", i, errTooMany
	}
	return jsonscan.Text(d.b, i)
}

// count returns how many strings the array at i has, so that they get memory once: a list that grows takes as much
// again.
func (d *decoder) count(i int) (n, end int, err error) {
	end, err = d.array(i, func(i int) (int, error) {
		if n++; d.strings+n > maxObjects {
			return i, errTooMany
		}
		return jsonscan.Value(d.b, i)
	})
	return n, end, err
}

// hint decodes the current value of o, an integer that is a hint: nil if it cannot be read.
func (d *decoder) hint(o *object) *int64 {
	n, ok := jsonscan.Int(o.Raw())
	if !ok {
		return nil
	}
	return &n
}

// float decodes the current value of o; bool does the same.
func (d *decoder) float(o *object) *float64 {
	x := d.floats.new()
	*x = o.Float()
	return x
}

func (d *decoder) bool(o *object) *bool {
	b := d.bools.new()
	*b = o.Bool()
	return b
}

// value decodes the value at i, which is small, into v by means of the JSON library.
func (d *decoder) value(i int, v any) (end int, err error) {
	end, err = jsonscan.Value(d.b, i)
	if err != nil {
		return end, err
	}
	return end, decodeValue(d.b[i:end], v)
}
