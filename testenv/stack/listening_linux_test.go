package stack_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpotel/mcpotel/testenv/stack"
)

// TestNothingListensBeyondLoopback reads the listening addresses of each process of the stack from the kernel.
func TestNothingListensBeyondLoopback(t *testing.T) {
	for _, p := range []*stack.Process{up.Agent, up.Gateway, up.Jaeger, up.Prometheus} {
		addresses := listening(t, p.Pid())
		if len(addresses) == 0 {
			t.Errorf("%s listens nowhere", p.Name())
		}
		for _, a := range addresses {
			// the form of 127.0.0.1 and ::1 in /proc
			if host, _, _ := strings.Cut(a, ":"); host != "0100007F" && host != "00000000000000000000000001000000" {
				t.Errorf("%s listens on %s, want loopback only", p.Name(), a)
			}
		}
	}
}

// listening returns the addresses of a process's listening sockets, in the form of /proc/net/tcp.
func listening(t *testing.T, pid int) (addresses []string) {
	t.Helper()
	proc := fmt.Sprintf("/proc/%d", pid)
	files, err := os.ReadDir(filepath.Join(proc, "fd"))
	if err != nil {
		t.Fatal(err)
	}
	sockets := map[string]bool{}
	for _, f := range files {
		if to, err := os.Readlink(filepath.Join(proc, "fd", f.Name())); err == nil { // it may have been closed meanwhile
			sockets[to] = true
		}
	}
	for _, table := range []string{"tcp", "tcp6"} {
		text, err := os.ReadFile(filepath.Join(proc, "net", table))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			const local, state, inode, listens = 1, 3, 9, "0A"
			if f := strings.Fields(line); len(f) > inode && f[state] == listens && sockets["socket:["+f[inode]+"]"] {
				addresses = append(addresses, f[local])
			}
		}
	}
	return addresses
}
