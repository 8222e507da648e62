// Package stdio returns standard input and output for a protocol: all other output of the program and its children goes
// to standard error.
package stdio

import (
	"errors"
	"io"
)

// interruptible returns a reader of r. Its Close interrupts a waiting Read.
func interruptible(r io.ReadCloser) io.ReadCloser {
	read, write := io.Pipe()
	go func() { // ends with r, or with the first input after read was closed
		_, err := io.Copy(write, r)
		_ = write.CloseWithError(errors.Join(err, r.Close()))
	}()
	return read
}
