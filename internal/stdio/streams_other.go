//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package stdio

import (
	"io"
	"os"
)

// Streams returns standard input and output, and a function that restores them.
func Streams() (io.ReadCloser, io.WriteCloser, func() error, error) {
	return interruptible(io.NopCloser(os.Stdin)), keepOpen{os.Stdout}, func() error { return nil }, nil
}

// keepOpen is a stream that stays open when the connection is closed.
type keepOpen struct{ io.Writer }

func (keepOpen) Close() error { return nil }
