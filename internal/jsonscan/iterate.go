package jsonscan

// cursor stands at one value inside an object or array. It is owned by the decoder that made it.
type cursor struct {
	b       []byte
	i       int  // behind the last thing read
	at      int  // where the current value begins
	pending bool // the current value has not been read
	begun   bool // the opening bracket and a first value have been seen
	done    bool
	err     error
}

// At returns the offset at which the current value begins.
func (c *cursor) At() int { return c.at }

// First returns the first byte of the current value, which tells its kind: one of { [ " - 0…9 t f n. It is 0 at the end
// of the text.
func (c *cursor) First() byte { return at(c.b, c.at) }

// Take says that the current value has been consumed up to the offset end by a function that validated it, or that this
// ended with err: o.Take(jsonscan.Value(b, o.At())).
func (c *cursor) Take(end int, err error) {
	c.pending, c.i = false, end
	if err != nil {
		c.Fail(err)
	}
}

// Raw validates the current value and returns its bytes, capacity cut; nil if it is not valid, which [cursor.Err]
// tells.
func (c *cursor) Raw() []byte {
	c.Take(Value(c.b, c.at))
	if c.err != nil {
		return nil
	}
	return c.b[c.at:c.i:c.i]
}

// Text decodes the current value, which must be a string, in place; see [Text] for what that means.
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

// Fail ends the walk with an error, one of the decoder's own for instance. The first error stays.
func (c *cursor) Fail(err error) {
	if c.err == nil {
		c.err = err
	}
	c.done = true
}

// Err returns the error that ended the walk, nil if there was none.
func (c *cursor) Err() error { return c.err }

// End returns, once Next has reported false and Err nil, the offset behind the closing bracket.
func (c *cursor) End() int { return c.i }

func (c *cursor) want(ok bool, kind string) {
	if !ok && c.err == nil {
		c.Fail(&TypeError{Offset: c.at, Want: kind})
	}
}

// open reads the opening bracket, before the first value.
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

// advance passes over the current value, if it has not been read, and over the comma behind it, and leaves i where the
// next member or element begins. It reports false at the end.
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

// Object walks over the members of an object and validates them on its way; see the package's example. A value that
// is not read is validated by the following Next. It allocates nothing unless a name is escaped.
type Object struct {
	cursor
	key     []byte
	keyAt   int
	unquote []byte // memory for escaped names
}

// ObjectAt returns a walk over the object at b[i], leading space skipped. If there is no object, the first Next reports
// false and Err a [*TypeError], or a [*SyntaxError] if it is no JSON value at all.
func ObjectAt(b []byte, i int) Object {
	return Object{cursor: cursor{b: b, i: i}}
}

// Resume makes o, which is zero, walk over what is left of an object at b[i], behind a member that was validated
// elsewhere.
func (o *Object) Resume(b []byte, i int) {
	o.b, o.i, o.begun = b, i, true
}

// Next goes to the next member, false at the object's end and after an error.
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

// Key returns the current member's name, its escapes decoded. It is valid until the next Next and must not be changed.
func (o *Object) Key() []byte { return o.key }

// KeyAt returns the offset of the current member's name, at its opening quote.
func (o *Object) KeyAt() int { return o.keyAt }

// Array walks over the elements of an array like [Object] does over members.
type Array struct {
	cursor
}

// ArrayAt returns a walk over the array at b[i], leading space skipped. If there is no array, the first Next reports
// false and Err a [*TypeError], or a [*SyntaxError] if it is no JSON value at all.
func ArrayAt(b []byte, i int) Array {
	return Array{cursor{b: b, i: i}}
}

// Next goes to the next element, false at the array's end and after an error.
func (a *Array) Next() bool {
	if !a.advance('[', ']', "array") {
		return false
	}
	a.at, a.pending = a.i, true
	return true
}

// Seen remembers which of up to 64 known names, numbered by the decoder that knows them, have been met in one object.
type Seen uint64

// Again notes name number n and reports whether it had been met before.
func (s *Seen) Again(n uint) bool {
	met := *s>>n&1 != 0
	*s |= 1 << n
	return met
}
