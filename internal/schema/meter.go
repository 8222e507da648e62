package schema

import (
	"bytes"
	"context"
	"hash/maphash"
	"io"
	"iter"
	"math"
	"math/bits"
	"slices"
	"unicode/utf8"
)

// Schemas and values come from peers, and a small schema can require 2^depth visits of a small value. So a meter
// accounts for all work on a value. Every operation with a cost that grows with the input is a loop or a function of
// the meter, in this file. The rest of the evaluation has no such loop or call, as TestEveryLoopIsMetered checks.
//
// A step takes about ten nanoseconds. An exhausted meter, or a meter with a cancelled context, ends every loop. Results
// after that are meaningless; the caller of the evaluation gets the meter's error instead.

const (
	// baseWork is the work allowed for an empty text. Each byte of the text adds one unit, so that the size of a value
	// alone never exhausts the budget.
	baseWork = 1 << 20

	unit         = 8       // steps for each byte of the text
	stepsPerLook = 1 << 14 // steps between two checks of the context

	bytesPerStep  = 64 // bytes compared, counted or hashed in one step
	digitsPerStep = 8  // digits of a number parsed in one step
	matchPerStep  = 8  // instructions of a regular expression × bytes of text, matched in one step
	matchAtOnce   = 1 << 10
)

type meter struct {
	ctx  context.Context
	left int64 // remaining steps
	look int64 // check the context when left falls below this number
	err  error // reason for the stop: ErrBudget or the cause of the context's end; nil while running
}

// newMeter returns a meter for the work on a text of length bytes.
func newMeter(ctx context.Context, length int) *meter {
	left := (baseWork + int64(length)) * unit
	return &meter{ctx: ctx, left: left, look: left}
}

// pay subtracts steps from the budget and reports whether the work may continue.
func (m *meter) pay(steps int) bool {
	m.left -= int64(steps)
	return m.left >= m.look || m.pause()
}

// pause checks the budget and the context, and reports whether the work may continue.
func (m *meter) pause() bool {
	if m.err == nil && m.left < 0 {
		m.stop(ErrBudget)
	}
	if m.err == nil && m.ctx.Err() != nil {
		m.stop(context.Cause(m.ctx))
	}
	if m.err != nil {
		return false
	}
	m.look = max(m.left-stepsPerLook, 0)
	return true
}

// stop ends the work with the error why.
func (m *meter) stop(why error) {
	if m.err == nil {
		m.err, m.look = why, math.MaxInt64 // makes every pay call pause
	}
}

// each yields the elements of a list.
func each[T any](m *meter, list []T) iter.Seq2[int, T] {
	return func(yield func(int, T) bool) {
		for i, v := range list {
			if !m.pay(1) || !yield(i, v) {
				return
			}
		}
	}
}

// entries yields the entries of a map, in no particular order.
func entries[M ~map[string]V, V any](m *meter, all M) iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		for name, v := range all {
			if !m.pay(1) || !yield(name, v) {
				return
			}
		}
	}
}

// back yields the indices of a chain of items, from the last item to the first. last and the elements of before are an
// index plus 1, or 0 at the end of the chain: before[k] belongs to the predecessor of the item with index k.
func back(m *meter, before []int, last int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := last; i > 0 && m.pay(1) && yield(i-1); {
			i = before[i-1]
		}
	}
}

// inside yields the items of an array, or the names of an object's properties. The value of a property follows its
// name.
func inside(m *meter, v value) iter.Seq2[int, value] {
	return func(yield func(int, value) bool) {
		item, step := v.first(), 0
		if v.kind() == '{' {
			step = 1
		}
		for i := range v.size() {
			if !m.pay(1) || !yield(i, item) {
				return
			}
			item = value{item.doc, item.at + step}.after()
		}
	}
}

// sort sorts names.
func (m *meter) sort(names []value) {
	if m.pay(len(names) * bits.Len(uint(len(names)))) {
		slices.SortFunc(names, compareNames)
	}
}

// A bitset is a set of numbers below its size; put ignores all others. A nil bitset is always empty.
type bitset struct{ words []uint64 }

const wordSize = 64

func (m *meter) newBitset(size int) *bitset {
	words := (size + wordSize - 1) / wordSize
	if !m.pay(words) {
		return nil
	}
	return &bitset{make([]uint64, words)}
}

func (b *bitset) put(i int) {
	if b != nil && i/wordSize < len(b.words) {
		b.words[i/wordSize] |= 1 << (i % wordSize)
	}
}

func (b *bitset) holds(i int) bool {
	return b != nil && i/wordSize < len(b.words) && b.words[i/wordSize]&(1<<(i%wordSize)) != 0
}

// fork returns an empty set of the same size, or nil if b is nil.
func (m *meter) fork(b *bitset) *bitset {
	if b == nil {
		return nil
	}
	return m.newBitset(len(b.words) * wordSize)
}

// fill adds all numbers to b.
func (m *meter) fill(b *bitset) {
	if b == nil {
		return
	}
	for i := range each(m, b.words) {
		b.words[i] = math.MaxUint64
	}
}

// union adds the numbers in other to b.
func (m *meter) union(b, other *bitset) {
	if b == nil || other == nil {
		return
	}
	for i, word := range each(m, other.words) {
		b.words[i] |= word
	}
}

// runes returns the number of characters in a text.
func (m *meter) runes(s []byte) int {
	if !m.pay(len(s) / bytesPerStep) {
		return 0
	}
	return utf8.RuneCount(s)
}

// same reports whether two texts are equal.
func (m *meter) same(a, b []byte) bool {
	return len(a) == len(b) && m.pay(len(a)/bytesPerStep) && bytes.Equal(a, b)
}

// hashText returns the hash of a text.
func (m *meter) hashText(s []byte) uint64 {
	if !m.pay(len(s) / bytesPerStep) {
		return 0
	}
	return maphash.Bytes(seed, s)
}

// number returns a number as a Go value, or nil for anything else.
func (m *meter) number(v value) any {
	if v.types()&isNumber == 0 || !m.pay(len(v.bytes())/digitsPerStep) {
		return nil
	}
	return v.number()
}

// match reports whether s matches e. For a long text, match pays while it reads and stops with the meter.
func (m *meter) match(e *expression, s []byte) bool {
	if len(s) <= matchAtOnce {
		return m.pay(1+e.program*len(s)/matchPerStep) && e.regexp.Match(s)
	}
	return e.regexp.MatchReader(&paidRunes{m, 1 + e.program/matchPerStep, s})
}

// paidRunes reads the characters of a text and pays price steps for each byte.
type paidRunes struct {
	meter *meter
	price int
	rest  []byte
}

func (p *paidRunes) ReadRune() (r rune, size int, err error) {
	if len(p.rest) == 0 {
		return 0, 0, io.EOF
	}
	r, size = utf8.DecodeRune(p.rest)
	if !p.meter.pay(size * p.price) {
		return 0, 0, p.meter.err
	}
	p.rest = p.rest[size:]
	return r, size, nil
}
