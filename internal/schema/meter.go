package schema

import (
	"context"
	"hash/maphash"
	"io"
	"iter"
	"maps"
	"math"
	"math/bits"
	"slices"
	"unicode/utf8"

	"github.com/mcpotel/mcpotel/internal/weigh"
)

// Schemas and values come from peers, and a small schema can ask for 2^depth visits of a small value. So all work on a
// value is paid for: whatever takes longer the more a peer sends is in this file, as a loop or a function of the meter,
// and the rest of the evaluation has no loop and no such call of its own. TestEveryLoopIsPaidFor holds it to that.
//
// A step is about ten nanoseconds. A meter that is empty, or whose context has ended, lets no loop go on; what is found
// out after that means nothing, and the caller of the evaluation gets the meter's error instead.

const (
	// baseWork is the work allowed for an empty text. Each byte of the text allows a unit more, so that the size of a
	// value alone is never too much.
	baseWork = 1 << 20

	unit         = 8       // steps
	stepsPerLook = 1 << 14 // between two looks at the context

	bytesPerStep = 64 // of a text that is compared, counted or hashed
	matchPerStep = 8  // instructions × bytes of a regular expression
	matchAtOnce  = 1 << 10
)

type meter struct {
	ctx  context.Context
	left int64 // steps
	look int64 // the context is looked at when so many are left
	err  error // why the work has ended: ErrBudget or the context's error
}

// newMeter returns a meter for the work on a text of so many bytes.
func newMeter(ctx context.Context, length int) *meter {
	left := (baseWork + int64(length)) * unit
	return &meter{ctx: ctx, left: left, look: left}
}

// pay takes steps off, and reports whether the work may go on.
func (m *meter) pay(steps int) bool {
	m.left -= int64(steps)
	return m.left >= m.look || m.pause()
}

// pause finds out whether there is anything left, and looks at the context.
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

// stop ends the work.
func (m *meter) stop(why error) {
	if m.err == nil {
		m.err, m.look = why, math.MaxInt64 // every step comes to pause now
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

// entries yields what is in a map, in no order.
func entries[M ~map[string]V, V any](m *meter, all M) iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		for name, v := range all {
			if !m.pay(1) || !yield(name, v) {
				return
			}
		}
	}
}

// inOrder yields what is in a map, by name.
func inOrder[M ~map[string]V, V any](m *meter, all M) iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		if !m.pay(len(all) * bits.Len(uint(len(all)))) {
			return
		}
		for _, name := range slices.Sorted(maps.Keys(all)) {
			if !m.pay(1) || !yield(name, all[name]) {
				return
			}
		}
	}
}

// back yields the items from the given one back to the first, each found by
// the one behind it; 1 is item 0, and 0 is none.
func back(m *meter, before []int, last int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := last; i > 0 && m.pay(1) && yield(i-1); {
			i = before[i-1]
		}
	}
}

// indexOf numbers the entries of a map.
func indexOf(m *meter, o object) map[string]int {
	if !m.pay(len(o) * unit) {
		return nil
	}
	index := make(map[string]int, len(o))
	for name := range o {
		index[name] = len(index)
	}
	return index
}

// A bitset is a set of small numbers. Any other number is in none.
type bitset []uint64

const wordSize = 64

func (m *meter) newBitset(size int) bitset {
	words := (size + wordSize - 1) / wordSize
	if !m.pay(words) {
		return nil
	}
	return make(bitset, words)
}

func (b bitset) put(i int) {
	if i/wordSize < len(b) {
		b[i/wordSize] |= 1 << (i % wordSize)
	}
}

func (b bitset) holds(i int) bool { return i/wordSize < len(b) && b[i/wordSize]&(1<<(i%wordSize)) != 0 }

// fill puts all numbers into b.
func (m *meter) fill(b bitset) {
	for i := range each(m, b) {
		b[i] = math.MaxUint64
	}
}

// union adds the numbers in other to b.
func (m *meter) union(b, other bitset) {
	for i, word := range each(m, other) {
		b[i] |= word
	}
}

// runes counts the characters of a text.
func (m *meter) runes(s text) int {
	if !m.pay(len(s) / bytesPerStep) {
		return 0
	}
	return utf8.RuneCountInString(string(s))
}

// same reports whether two texts are equal.
func (m *meter) same(a, b text) bool {
	return len(a) == len(b) && m.pay(len(a)/bytesPerStep) && a == b
}

// hashText hashes a text.
func (m *meter) hashText(s text) uint64 {
	if !m.pay(len(s) / bytesPerStep) {
		return 0
	}
	return maphash.String(seed, string(s))
}

// match reports whether e matches s. A long text is paid for as it is read,
// which ends with the meter.
func (m *meter) match(e *expression, s string) bool {
	if len(s) <= matchAtOnce {
		return m.pay(1+e.program*len(s)/matchPerStep) && e.regexp.MatchString(s)
	}
	return e.regexp.MatchReader(&paidRunes{m, 1 + e.program/matchPerStep, s})
}

// paidRunes are the characters of a text, each byte at a price.
type paidRunes struct {
	meter *meter
	price int
	rest  string
}

func (p *paidRunes) ReadRune() (r rune, size int, err error) {
	if p.rest == "" {
		return 0, 0, io.EOF
	}
	r, size = utf8.DecodeRuneInString(p.rest)
	if !p.meter.pay(size * p.price) {
		return 0, 0, p.meter.err
	}
	p.rest = p.rest[size:]
	return r, size, nil
}

// checkWeight refuses a text that a peer has written and that would take too much memory as values.
func checkWeight(instance []byte) error { return weigh.Any.Check(instance) }
