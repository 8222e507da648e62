package grow

const (
	// Kept is the maximum size of a buffer to keep when messages are small again.
	Kept = 64 << 10

	quiet = 64 // consecutive messages below Kept after which large messages are considered over
	part  = 32 // a buffer must reach 1/part of the expected size before it grows to the expected size in one step
)

// Lately records the sizes of the latest messages of a stream. The zero value has seen no message.
type Lately struct {
	expected int // buffer size for a message like the last large one; 0 for none
	small    int // consecutive messages below Kept
}

// Note records a message of the given size.
func (l *Lately) Note(size int) {
	if size < Kept {
		if l.small++; l.Quiet() {
			l.expected = 0
		}
		return
	}
	l.small, l.expected = 0, size+size/8
}

// Quiet reports whether all recent messages were small.
func (l *Lately) Quiet() bool { return l.small >= quiet }

// Next returns the size of the buffer that replaces a full buffer of the given size, on the assumption that the message
// is like the last large one. The result is not above most. It is zero if there is no reason for the assumption.
func (l *Lately) Next(size, most int) int {
	next := min(l.expected, most)
	if size < Kept || size >= next || size < next/part {
		return 0
	}
	return next
}
