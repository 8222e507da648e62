package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
)

// writeRaw writes the output of the benchmarks.
func writeRaw(file string, lines []byte) error {
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression)
	_, _ = z.Write(lines) // never fails: a Buffer accepts all data
	if err := z.Close(); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return err
	}
	return os.WriteFile(file, b.Bytes(), 0o666)
}

// readRaw reads a file of writeRaw.
func readRaw(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}
