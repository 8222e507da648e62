package transport

import "os"

// readNow is not reached on Windows, where pipes have no deadlines to exceed.
func readNow(f *os.File, p []byte) (int, error) { return f.Read(p) }
