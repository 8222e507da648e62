package mcp

import (
	"github.com/mcpotel/mcpotel/internal/jsonscan"
)

// decoder decodes one value in place. A method that decodes a part of the value takes the start offset of the part and
// returns the offset after its end.
type decoder struct {
	b []byte

	strings int // number of strings decoded in lists so far

	textUsed bool        // newText has returned its first block
	list     ContentList // empty list allocated with the first text block; nil after its use

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

// slab allocates values in batches. The first batch has the number of values that the caller needs. Each further batch
// is twice as large, up to slabBound, which limits the memory that one retained value keeps alive.
type slab[T any] struct {
	free []T
	size int // number of values in the last batch
}

const slabBound = 512

// new returns a pointer to a zero value.
func (s *slab[T]) new() *T { return &s.alloc(1)[0] }

// alloc returns n zero values in a slice of capacity n.
func (s *slab[T]) alloc(n int) []T {
	if len(s.free) < n {
		s.size = max(min(2*s.size, slabBound), n)
		s.free = make([]T, s.size)
	}
	taken := s.free[:n:n]
	s.free = s.free[n:]
	return taken
}

// object walks over those members of an object that the decoders know and that are not null. The walk fails if a
// member occurs twice.
type object struct {
	jsonscan.Object
	member member // the current member
	seen   uint64 // one bit for each member so far
	has    uint64 // one bit for each member so far that is not null
}

func (d *decoder) objectAt(i int) object {
	return object{Object: jsonscan.ObjectAt(d.b, i)}
}

// next moves to the next member. It returns false at the end and after an error.
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

// end returns the offset after the object. It returns an error if the walk failed or if a member in required is
// missing. required has one bit for each required member.
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

// object returns the text of the current value, which must be an object.
func (o *object) object() []byte {
	if c := o.First(); c != '{' {
		o.failType("object")
		return nil
	}
	return o.Raw()
}

// name returns the current value, which must be a string. An empty string counts as a missing member.
func (o *object) name() string {
	s := o.Text()
	if s == "" {
		o.has &^= 1 << o.member
	}
	return s
}

// failType makes the walk fail because the current value does not have the type want, or is not JSON.
func (o *object) failType(want string) {
	if o.Raw(); o.Err() == nil {
		o.Fail(&jsonscan.TypeError{Offset: o.At(), Want: want})
	}
}

// resultType reads the current value. It does not allocate for types that the protocol defines.
func (o *object) resultType() ResultType {
	t, ok := resultType(o.Raw())
	if !ok {
		o.failType("string")
	}
	return t
}

// array walks over an array and calls element for each element.
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

// listed decodes a string in a list of short strings.
func (d *decoder) listed(i int) (s string, end int, err error) {
	if d.strings++; d.strings > maxObjects {
		return "", i, errTooMany
	}
	return jsonscan.Text(d.b, i)
}

// count returns the number of strings in the array at i, so that the caller allocates the list once. A growing list
// would take twice the memory.
func (d *decoder) count(i int) (n, end int, err error) {
	end, err = d.array(i, func(i int) (int, error) {
		if n++; d.strings+n > maxObjects {
			return i, errTooMany
		}
		return jsonscan.Value(d.b, i)
	})
	return n, end, err
}

// hint decodes the current value of o, an integer hint. It returns nil if the value is not an integer.
func (d *decoder) hint(o *object) *int64 {
	n, ok := jsonscan.Int(o.Raw())
	if !ok {
		return nil
	}
	return &n
}

// float decodes the current value of o.
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

// value decodes the small value at i into v with the JSON library.
func (d *decoder) value(i int, v any) (end int, err error) {
	end, err = jsonscan.Value(d.b, i)
	if err != nil {
		return end, err
	}
	return end, decodeValue(d.b[i:end], v)
}
