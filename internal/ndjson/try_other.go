//go:build !unix

package ndjson

import "io"

// tryWriter is for systems where a write can be tried without waiting.
type tryWriter struct{}

// newTryWriter returns nil: here every write is left to the goroutine that may wait.
func newTryWriter(io.Writer) *tryWriter { return nil }

func (*tryWriter) write([]byte) (int, error) { panic("ndjson: no tryWriter on this system") }
