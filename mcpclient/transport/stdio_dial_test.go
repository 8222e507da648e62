//go:build unix

package transport_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

func TestCommandThatCannotRunIsAPermanentError(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string, mode fs.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, tt := range []struct {
		name string
		s    transport.Stdio
		is   error // nil for any
	}{
		{"no command", transport.Stdio{}, nil},
		{"not in PATH", transport.Stdio{Command: "mcpotel-no-such-command"}, exec.ErrNotFound},
		{"no such file", transport.Stdio{Command: filepath.Join(dir, "none")}, fs.ErrNotExist},
		{"not executable", transport.Stdio{Command: write("plain", "text", 0o600)}, fs.ErrPermission},
		{"a directory", transport.Stdio{Command: dir}, fs.ErrPermission},
		{"not a program", transport.Stdio{Command: write("garbage", "\x00garbage", 0o700)}, nil},
		{"no interpreter", transport.Stdio{Command: write("script", "#!"+dir+"/none\n", 0o700)}, fs.ErrNotExist},
		{"no directory", transport.Stdio{Command: os.Args[0], Dir: filepath.Join(dir, "none")}, fs.ErrNotExist},
	} {
		conn, err := tt.s.Dial(t.Context(), transport.Config{})
		if conn != nil || err == nil || !transport.Permanent(err) {
			t.Errorf("%s: want no connection and a permanent error, got %v and %v", tt.name, conn, err)
		}
		if tt.is != nil && !errors.Is(err, tt.is) {
			t.Errorf("%s: want the error %q, got %q", tt.name, tt.is, err)
		}
	}
}

func TestChildGetsItsArgumentsDirectoryAndEnvironment(t *testing.T) {
	t.Setenv("MCPOTEL_TEST_VARIABLE", "inherited")
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		s    transport.Stdio
		want string
	}{
		{"arguments", transport.Stdio{Command: "echo", Args: []string{"a b", "$c"}}, "a b $c"},
		{"directory", transport.Stdio{Command: "pwd", Dir: dir}, dir},
		{"environment of this process", transport.Stdio{Command: "printenv", Args: []string{"MCPOTEL_TEST_VARIABLE"}},
			"inherited"},
		{"environment of its own", transport.Stdio{Command: "env", Env: []string{"A=1", "A=2"}}, "A=2"},
		{"empty environment and one argument", transport.Stdio{Command: "env", Args: []string{"B=3"}, Env: []string{}},
			"B=3"},
	} {
		conn, err := tt.s.Dial(t.Context(), transport.Config{})
		if err != nil {
			t.Fatalf("%s: want a connection, got %v", tt.name, err)
		}
		frame, err := conn.Receive(t.Context())
		if err != nil || string(frame.Data) != tt.want {
			t.Errorf("%s: want %q, got %q and error %v", tt.name, tt.want, frame.Data, err)
		}
		exitOf(t, conn)
		if err := conn.Close(t.Context()); err != nil {
			t.Errorf("%s: close: want no error, got %v", tt.name, err)
		}
	}
}

func TestStdioIsNamedAfterItsCommand(t *testing.T) {
	for command, want := range map[string]string{"/usr/bin/server": "server", "npx": "npx", "./a/b.exe": "b"} {
		if got := (transport.Stdio{Command: command}).Name(); got != want {
			t.Errorf("name of %s: want %s, got %s", command, want, got)
		}
	}
	if got, want := (transport.Stdio{}).Network(), (transport.Network{Transport: "pipe"}); got != want {
		t.Errorf("want network %+v, got %+v", want, got)
	}
}

func TestStdioInfoHasProcess(t *testing.T) {
	h := newHarness(t)
	conn, child := h.dial(h.stdio(), transport.Config{})
	if info := conn.Info(); info.PID != child.pid || info.Exit != nil {
		t.Errorf("want process %d without an end, got %+v", child.pid, info)
	}
}
