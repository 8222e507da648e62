//go:build unix

package mcpclient_test

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// belongings are the process's goroutines that run code of this module, and its file descriptors.
type belongings struct {
	goroutines  map[string]string // stacks by goroutine ID
	descriptors map[string]string // targets by number; empty if the system does not list them
}

// inventory returns the present belongings. It first creates a pipe, so that the descriptors of the runtime's poller
// already exist.
func inventory(t *testing.T) belongings {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	_, _ = r.Close(), w.Close()
	return belongings{goroutines(), descriptors()}
}

// unchanged fails the test if there are more belongings than before. It waits, because a goroutine takes a moment to
// disappear.
func (b belongings) unchanged(t *testing.T) {
	t.Helper()
	var more []string
	eventually(t, "no goroutine and no descriptor to be left", func() bool {
		more = nil
		for id, stack := range goroutines() {
			if _, ok := b.goroutines[id]; !ok {
				more = append(more, stack)
			}
		}
		for n, what := range descriptors() {
			if b.descriptors[n] != what {
				more = append(more, fmt.Sprintf("descriptor %s: %s", n, what))
			}
		}
		return len(more) == 0
	}, func() string { return strings.Join(more, "\n\n") })
}

// module is part of every stack that runs code of this module.
const module = "github.com/mcpotel/mcpotel/"

// goroutines returns the stacks of goroutines that run code of this module, except the goroutines of tests.
func goroutines() map[string]string {
	found := map[string]string{}
	buf := make([]byte, 1<<20)
	for stack := range strings.SplitSeq(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
		id, _, _ := strings.Cut(stack, " [")
		if strings.Contains(stack, module) && !strings.Contains(stack, "testing.tRunner") {
			found[id] = stack
		}
	}
	return found
}

func descriptors() map[string]string {
	found := map[string]string{}
	entries, _ := os.ReadDir("/proc/self/fd")
	for _, e := range entries {
		if what, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil {
			found[e.Name()] = what // Readlink fails for the descriptor of ReadDir, which is already closed
		}
	}
	return found
}

// dead reports whether no process with this ID runs any more. A zombie counts as dead.
func dead(pid int) bool {
	if syscall.Kill(pid, 0) == syscall.ESRCH {
		return true
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return os.IsNotExist(err) && len(descriptors()) > 0
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return strings.HasPrefix(rest, "Z") || strings.HasPrefix(rest, "X")
}

// mustDie fails the test unless the processes end.
func mustDie(t *testing.T, pids ...int) {
	t.Helper()
	eventually(t, "the processes to be gone",
		func() bool { return !slices.ContainsFunc(pids, func(p int) bool { return !dead(p) }) },
		func() string { return fmt.Sprint(slices.DeleteFunc(slices.Clone(pids), dead)) })
}

// patience is how long a test waits for an event that must happen.
const patience = 10 * time.Second

// eventually waits until holds returns true. It is for events without a signal, such as the end of a goroutine or of a
// process that is not a child of this one.
func eventually(t *testing.T, what string, holds func() bool, got func() string) {
	t.Helper()
	for begun := time.Now(); !holds(); runtime.Gosched() {
		if time.Since(begun) > patience {
			t.Fatalf("want %s, got %s", what, got())
		}
	}
}
