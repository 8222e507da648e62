package transporttest

import (
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strconv"
	"strings"

	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// internals is the prefix of this module's packages that run goroutines for transports.
const internals = "github.com/mcpotel/mcpotel/internal/"

// nothingLeft fails the test if a new goroutine of the transport, or a child process, remains. A goroutine that is
// ending may need a moment to disappear.
func (r *rig) nothingLeft() {
	r.Helper()
	r.retry("no goroutine of the transport to be left", func() bool {
		for id := range r.goroutines() {
			if !r.before[id] {
				return false
			}
		}
		return true
	})
	if n := children(); n > 0 {
		r.Errorf("want no child process to be left, got %d", n)
	}
}

// Wrapper is implemented by a transport that wraps the transport under test, for example to give each connection new
// streams. The leak check uses it to find the package under test.
type Wrapper interface {
	// Unwrap returns a transport of the package under test.
	Unwrap() transport.Transport
}

// goroutines returns the ids of the goroutines that run code of the transport's package or of the module's
// internals, or that the transport's package has started.
func (r *rig) goroutines() map[string]bool {
	var subject any = r.Transport
	if w, ok := subject.(Wrapper); ok {
		subject = w.Unwrap()
	}
	typ := reflect.TypeOf(subject)
	if typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	own := typ.PkgPath() + "."
	found := make(map[string]bool)
	for stack := range strings.SplitSeq(stacks(), "\n\n") {
		if strings.Contains(stack, "\n"+own) || strings.Contains(stack, "created by "+own) ||
			strings.Contains(stack, internals) {
			id, _, _ := strings.Cut(stack, " [")
			found[id] = true
		}
	}
	return found
}

// stacks returns the stacks of all goroutines.
func stacks() string {
	for size := 1 << 20; ; size *= 2 {
		buf := make([]byte, size)
		if n := runtime.Stack(buf, true); n < size {
			return string(buf[:n])
		}
	}
}

// descriptors returns the number of open descriptors of this process, 0 if unknown.
func (r *rig) descriptors() int {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(entries)
}

// children returns the number of child processes of this process, 0 if unknown.
func children() int {
	self := strconv.Itoa(os.Getpid())
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	n := 0
	for _, path := range stats {
		data, err := os.ReadFile(path)
		if err != nil {
			continue // the process has ended
		}
		_, rest, _ := strings.Cut(string(data), ") ") // pid (command) state ppid …
		if fields := strings.Fields(rest); len(fields) > 1 && fields[1] == self {
			n++
		}
	}
	return n
}
