//go:build !unix

package ndjson

import "io"

// tryWriter is unused here; other systems can attempt a write without waiting.
type tryWriter struct{}

// newTryWriter returns nil: on this system, the background goroutine does every write.
func newTryWriter(io.Writer) *tryWriter { return nil }

func (*tryWriter) write([]byte) (int, error) { panic("ndjson: no tryWriter on this system") }
