package proctree

import (
	"bufio"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestStatFileIsParsed(t *testing.T) {
	rest := " S 10 20 20 0 -1 4194560 1 2 3 4 500 600 70 80 20 0 11 0 12345 1000000 256 18446744073709551615 1 1 0"
	page := int64(os.Getpagesize())
	want := stat{pid: 42, parent: 10, group: 20, user: 5700 * time.Millisecond, system: 6800 * time.Millisecond,
		start: 123450 * time.Millisecond, memory: 256 * page}
	for name, test := range map[string]struct {
		text string
		ok   bool
	}{
		"plain":                    {"42 (node)" + rest, true},
		"spaces and parentheses":   {"42 (a) S 1 (b)) )" + rest, true},
		"empty":                    {"", false},
		"cut":                      {"42 (node) S 10 20", false},
		"a field without a number": {"42 (node)" + strings.Replace(rest, "12345", "soon", 1), false},
	} {
		got, ok := parse([]byte(test.text))
		if ok != test.ok {
			t.Errorf("%s: got %v, want %v", name, ok, test.ok)
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(stat{})); ok && diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestTreesContainDescendantsAndGroup(t *testing.T) {
	all := map[int]stat{}
	for _, s := range []stat{
		{pid: 1, group: 1, memory: 1000},
		{pid: 10, parent: 1, group: 10, memory: 1, user: 1, system: 100, start: 5 * time.Second}, // a root
		{pid: 11, parent: 10, group: 10, memory: 2, user: 2, system: 200},                        // its child
		{pid: 12, parent: 11, group: 12, memory: 4, user: 4, system: 400},                        // a grandchild in its own group
		{pid: 13, parent: 1, group: 10, memory: 8},                                               // an orphan in the group
		{pid: 20, parent: 11, group: 20, memory: 16},                                             // a root inside of the tree
		{pid: 21, parent: 20, group: 20, memory: 32},
		{pid: 30, parent: 31, group: 30, memory: 64}, // a circle, which a change during reading may cause
		{pid: 31, parent: 30, group: 31, memory: 64},
	} {
		all[s.pid] = s
	}
	want := map[int]Usage{
		10: {Processes: 4, Memory: 15, User: 7, System: 700, Age: 2 * time.Second},
		20: {Processes: 2, Memory: 48, Age: 7 * time.Second},
	}
	if diff := cmp.Diff(want, trees([]int{10, 20, 99}, all, 7*time.Second)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Each process belongs to at most one tree, so the sums never exceed the sum over all processes.
func TestNoProcessCountsTwice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 20).Draw(t, "n")
		pid := rapid.IntRange(1, n)
		all := map[int]stat{}
		for p := 1; p <= n; p++ {
			all[p] = stat{pid: p, parent: pid.Draw(t, "parent"), group: pid.Draw(t, "group"), memory: 1}
		}
		roots := rapid.SliceOfDistinct(pid, func(p int) int { return p }).Draw(t, "roots")
		sums, processes := trees(roots, all, 0), 0
		for _, root := range roots {
			u, there := sums[root]
			if !there || u.Processes < 1 || u.Memory != int64(u.Processes) {
				t.Fatalf("root %d: got %+v, want its own process at least", root, u)
			}
			processes += u.Processes
		}
		if processes > n {
			t.Fatalf("got %d processes in trees, want at most %d", processes, n)
		}
	})
}

// A shell that waits for its child is a tree of two processes.
func TestRealTreeIsMeasured(t *testing.T) {
	cmd := exec.Command("sh", "-c", "sleep 60 & echo started; read line; kill $!")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatalf("got %q, %v, want the line of the shell", line, err)
	}
	root := cmd.Process.Pid
	u := Measure([]int{root, os.Getpid()})
	if got := u[root]; got.Processes != 2 || got.Memory < 64<<10 || got.Age < 0 || got.Age > time.Minute {
		t.Errorf("got %+v, want two processes with memory", got)
	}
	if got := u[os.Getpid()]; got.Memory < 1<<20 || got.Processes < 1 {
		t.Errorf("got %+v, want the memory of the test", got)
	}
	_ = in.Close()
	_ = cmd.Wait() // a signal may have ended the child
	if u := Measure([]int{root}); len(u) != 0 {
		t.Errorf("after the end: got %v for process %s, want nothing", u, strconv.Itoa(root))
	}
}
