package jsonscan

// cursor is the position of one value inside an object or array. It belongs to the decoder that made it.
type cursor struct {
	b       []byte
	i       int  // offset behind the last part read
	at      int  // offset of the current value
	pending bool // the current value has not been read yet
	begun   bool // the opening bracket has been read
	done    bool
	err     error
}

// At returns the offset of the current value.
func (c *cursor) At() int { return c.at }

// First returns the first byte of the current value, which determines its kind: one of { [ " - 0…9 t f n. It returns 0
// at the end of the text.
func (c *cursor) First() byte { return at(c.b, c.at) }

// Take records that another function has validated and consumed the current value up to the offset end, or has failed
// with err: o.Take(jsonscan.Value(b, o.At())).
func (c *cursor) Take(end int, err error) {
	c.pending, c.i = false, end
	if err != nil {
		c.Fail(err)
	}
}

// Raw validates the current value and returns its bytes. The capacity of the result is its length. It returns nil for
// an invalid value; [cursor.Err] then returns the error.
func (c *cursor) Raw() []byte {
	c.Take(Value(c.b, c.at))
	if c.err != nil {
		return nil
	}
	return c.b[c.at:c.i:c.i]
}

// Text decodes the current value, which must be a string, in place; see [Text] for the consequences.
func (c *cursor) Text() string {
	s, end, err := Text(c.b, c.at)
	c.Take(end, err)
	return s
}

// Int returns the current value, which must be a number that [Int] accepts.
func (c *cursor) Int() int64 {
	raw := c.Raw()
	n, ok := Int(raw)
	c.want(ok, "integer")
	return n
}

// Float returns the current value, which must be a number within the range of float64.
func (c *cursor) Float() float64 {
	raw := c.Raw()
	if first := c.First(); first != '-' && !isDigit(first) {
		c.want(false, "number")
		return 0
	}
	x, ok := Float(raw)
	c.want(ok, "number")
	return x
}

// Bool returns the current value, which must be true or false.
func (c *cursor) Bool() bool {
	raw := c.Raw()
	c.want(string(raw) == "true" || string(raw) == "false", "boolean")
	return string(raw) == "true"
}

// Null reports whether the current value is null, and consumes it if so.
func (c *cursor) Null() bool {
	if c.First() != 'n' {
		return false
	}
	c.Take(Value(c.b, c.at))
	return c.err == nil
}

// Fail ends the iteration with an error, for example one of the decoder. The cursor keeps the first error.
func (c *cursor) Fail(err error) {
	if c.err == nil {
		c.err = err
	}
	c.done = true
}

// Err returns the error that ended the iteration, or nil.
func (c *cursor) Err() error { return c.err }

// End returns the offset behind the closing bracket. It is valid after Next has returned false and Err has returned
// nil.
func (c *cursor) End() int { return c.i }

func (c *cursor) want(ok bool, kind string) {
	if !ok && c.err == nil {
		c.Fail(&TypeError{Offset: c.at, Want: kind})
	}
}

// open reads the opening bracket.
func (c *cursor) open(bracket byte, kind string) bool {
	c.begun = true
	c.i = Space(c.b, c.i)
	if at(c.b, c.i) == bracket {
		c.i++
		return true
	}
	c.Fail(mistyped(c.b, c.i, kind))
	return false
}

// advance skips the current value, unless it has been read, and the comma behind it. It sets i to the beginning of the
// next member or element. It reports false at the end.
func (c *cursor) advance(opening, closing byte, kind string) bool {
	if c.done {
		return false
	}
	first := !c.begun
	if first && !c.open(opening, kind) {
		return false
	}
	if c.pending {
		if c.Take(Value(c.b, c.at)); c.err != nil {
			return false
		}
	}
	c.i = Space(c.b, c.i)
	switch at(c.b, c.i) {
	case closing:
		c.i++
		c.done = true
		return false
	case ',':
		if !first {
			c.i = Space(c.b, c.i+1)
			return true
		}
	default:
		if first {
			return true
		}
	}
	c.Fail(unexpected(c.b, c.i))
	return false
}

// Object iterates over the members of an object and validates them on the way; see the example of the package. The next
// call of Next validates a value that was not read. Object allocates memory only for escaped names.
type Object struct {
	cursor
	key     []byte
	keyAt   int
	unquote []byte // memory for escaped names
}

// ObjectAt returns an iterator over the object at b[i], skipping leading space. If there is no object, the first Next
// returns false, and Err returns a [*TypeError] for another valid kind of value, otherwise a [*SyntaxError].
func ObjectAt(b []byte, i int) Object {
	return Object{cursor: cursor{b: b, i: i}}
}

// Resume makes o, a zero Object, iterate over the rest of an object from b[i] on, behind a member that was validated
// elsewhere.
func (o *Object) Resume(b []byte, i int) {
	o.b, o.i, o.begun = b, i, true
}

// Next advances to the next member. It reports false at the end of the object and after an error.
func (o *Object) Next() bool {
	if !o.advance('{', '}', "object") {
		return false
	}
	o.keyAt = o.i
	end, escaped, err := String(o.b, o.i)
	if err != nil {
		o.Fail(err)
		return false
	}
	o.key = o.b[o.i+1 : end-1]
	if escaped {
		o.unquote = append(o.unquote[:0], o.key...)
		o.key = Unquote(o.unquote)
	}
	if o.i, err = colon(o.b, end); err != nil {
		o.Fail(err)
		return false
	}
	o.at, o.pending = o.i, true
	return true
}

// Key returns the name of the current member, without escapes. It is valid until the next call of Next and must not be
// changed.
func (o *Object) Key() []byte { return o.key }

// KeyAt returns the offset of the current member's name, at its opening quote.
func (o *Object) KeyAt() int { return o.keyAt }

// Array iterates over the elements of an array as [Object] does over members.
type Array struct {
	cursor
}

// ArrayAt returns an iterator over the array at b[i], skipping leading space. If there is no array, the first Next
// returns false, and Err returns a [*TypeError] for another valid kind of value, otherwise a [*SyntaxError].
func ArrayAt(b []byte, i int) Array {
	return Array{cursor{b: b, i: i}}
}

// Next advances to the next element. It reports false at the end of the array and after an error.
func (a *Array) Next() bool {
	if !a.advance('[', ']', "array") {
		return false
	}
	a.at, a.pending = a.i, true
	return true
}

// Seen records which of up to 64 known names have occurred in one object. The decoder assigns the numbers of the names.
type Seen uint64

// Again records name number n and reports whether it had occurred before.
func (s *Seen) Again(n uint) bool {
	met := *s>>n&1 != 0
	*s |= 1 << n
	return met
}
