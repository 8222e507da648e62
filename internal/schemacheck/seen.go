package schemacheck

import (
	"bufio"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// SeenVariable names the environment variable with the directory where tests leave the rows that they have seen.
// Without it they leave nothing.
const SeenVariable = "MCPOTEL_TELEMETRY_SEEN"

// left are the rows that this process has left in each directory, so that each is written once.
var left struct {
	sync.Mutex
	in map[string]Set
}

// AppendSeen leaves rows in the directory that [SeenVariable] names, in a file for each process. It asks for them only
// if there is one: to work them out takes longer than many a test.
func AppendSeen(seen func() Set) error {
	dir := os.Getenv(SeenVariable)
	if dir == "" {
		return nil
	}
	rows := seen()
	left.Lock()
	defer left.Unlock()
	var b strings.Builder
	for _, r := range rows.Missing(left.in[dir]) {
		fmt.Fprintln(&b, r)
	}
	if b.Len() == 0 {
		return nil
	}
	f, err := os.OpenFile(filepath.Join(dir, fmt.Sprintf("%d.txt", os.Getpid())), os.O_CREATE|os.O_APPEND|os.O_WRONLY,
		0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.WriteString(b.String()); err != nil {
		return err
	}
	if left.in == nil {
		left.in = map[string]Set{}
	}
	if left.in[dir] == nil {
		left.in[dir] = Set{}
	}
	maps.Copy(left.in[dir], rows)
	return f.Close()
}

// ReadSeen returns all rows that were left in a directory.
func ReadSeen(dir string) (Set, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.txt"))
	if err != nil {
		return nil, err
	}
	rows := Set{}
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		for lines := bufio.NewScanner(f); lines.Scan(); {
			rows[lines.Text()] = true
		}
		f.Close()
	}
	return rows, nil
}
