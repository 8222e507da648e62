package jsonrpc

import (
	"bytes"
	"iter"

	"github.com/mcpotel/mcpotel/internal/jsonscan"
)

// Batch validates the whole frame as a non-empty JSON array and returns its elements, which are parts of frame. The
// caller passes each element to [Parse]. Only revision 2025-03-26 has batches. (specification 2025-03-26, basic,
// "Batching")
func Batch(frame []byte) (iter.Seq[[]byte], error) {
	frame = bytes.TrimPrefix(frame, []byte(byteOrderMark))
	if err := jsonscan.Valid(frame); err != nil {
		return nil, located(err, 0)
	}
	if a := jsonscan.ArrayAt(frame, 0); !a.Next() {
		return nil, &Violation{Reason: InvalidEnvelope}
	}
	return func(yield func([]byte) bool) {
		for a := jsonscan.ArrayAt(frame, 0); a.Next(); {
			if !yield(a.Raw()) {
				return
			}
		}
	}, nil
}
