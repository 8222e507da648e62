package grow

const (
	// Kept is how large a buffer may be that is kept when messages are small again.
	Kept = 64 << 10

	quiet = 64 // so many messages below Kept say that the large ones have stopped
	part  = 32 // of what may come, one such part has to be there first
)

// Lately knows how large the latest messages of a stream were. The zero value has seen none.
type Lately struct {
	expected int // the size of a buffer for a message like the last that was not small; 0 if there was none
	small    int // messages below Kept in a row
}

// Note notes a message of the given size.
func (l *Lately) Note(size int) {
	if size < Kept {
		if l.small++; l.Quiet() {
			l.expected = 0
		}
		return
	}
	l.small, l.expected = 0, size+size/8
}

// Quiet reports whether there were none but small messages for a while.
func (l *Lately) Quiet() bool { return l.small >= quiet }

// Next returns the size of the buffer, most at most, that follows a full one of the given size where the message may be
// like the last large one, and zero where it may not.
func (l *Lately) Next(size, most int) int {
	next := min(l.expected, most)
	if size < Kept || size >= next || size < next/part {
		return 0
	}
	return next
}
