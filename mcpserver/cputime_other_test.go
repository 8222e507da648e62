//go:build !unix

package mcpserver_test

import "time"

// processTime returns 0: only Unix systems are measured.
func processTime() time.Duration { return 0 }
