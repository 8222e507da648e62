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

// SeenVariable is the environment variable with the directory where tests store the rows that occurred. Without it,
// they store nothing.
const SeenVariable = "MCPOTEL_TELEMETRY_SEEN"

// left holds the rows that this process has stored in each directory, so that it writes each row once.
var left struct {
	sync.Mutex
	in map[string]Set
}

// AppendSeen stores rows in the directory in [SeenVariable], in one file for each process. It calls seen only if the
// variable is set, because computing the rows takes longer than many tests.
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

// ReadSeen returns all rows stored in a directory.
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
