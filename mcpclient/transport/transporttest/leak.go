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

// internals are the packages of this module that work for transports.
const internals = "github.com/mcpotel/mcpotel/internal/"

// nothingLeft fails the test if a goroutine of the transport that was not there before, or a child process, is left. A
// goroutine that has done its last may need a moment to disappear.
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

// Wrapper is a transport of a test that makes another one do what the contract asks for.
type Wrapper interface {
	// Unwrap returns a transport of the package under test.
	Unwrap() transport.Transport
}

// goroutines returns the ids of the goroutines in which code of the transport's package, or of the module's internals,
// runs or that it has started.
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

// descriptors returns how many descriptors this process has open, 0 where that cannot be found out.
func (r *rig) descriptors() int {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(entries)
}

// children returns how many processes have this one as their parent, 0 where that cannot be found out.
func children() int {
	self := strconv.Itoa(os.Getpid())
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	n := 0
	for _, path := range stats {
		data, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended meanwhile
		}
		_, rest, _ := strings.Cut(string(data), ") ") // pid (command) state ppid …
		if fields := strings.Fields(rest); len(fields) > 1 && fields[1] == self {
			n++
		}
	}
	return n
}
