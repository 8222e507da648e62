//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package stdio

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// Streams returns standard input and output for the protocol alone, and a function that restores them.
//
// Both are duplicates: the descriptor of standard output refers to standard error. Pipes and sockets are put into
// non-blocking mode, in which reading can be interrupted and writing never blocks a thread.
func Streams() (io.ReadCloser, io.WriteCloser, func() error, error) {
	in, blockIn, err := duplicate(syscall.Stdin, os.Stdin)
	if err != nil {
		return nil, nil, nil, err
	}
	out, blockOut, err := duplicate(syscall.Stdout, os.Stdout)
	if err != nil {
		return nil, nil, nil, errors.Join(err, in.Close())
	}
	giveBack, err := divertOutput()
	if err != nil {
		return nil, nil, nil, errors.Join(err, in.Close(), out.Close())
	}
	restore := func() error { return errors.Join(giveBack(), blockIn(), blockOut()) }
	if isTerminal(os.Stdin) {
		return interruptible(in), out, restore, nil
	}
	return in, out, restore, nil
}

// duplicate returns a stream under another descriptor, in non-blocking mode if it is a pipe or a socket, and a function
// that restores the mode. A stream that is also standard error keeps its mode, because code that writes to standard
// error does not expect the other mode.
func duplicate(fd int, f *os.File) (*os.File, func() error, error) {
	nothing := func() error { return nil }
	d, err := dup(fd, f.Name())
	if err != nil || nonblocking(d) || !canWait(f) || sameStream(f, os.Stderr) {
		return d, nothing, err
	}
	if err := errors.Join(d.Close(), os.NewSyscallError("fcntl", syscall.SetNonblock(fd, true))); err != nil {
		return nil, nil, err
	}
	d, err = dup(fd, f.Name())
	return d, func() error { return os.NewSyscallError("fcntl", syscall.SetNonblock(fd, false)) }, err
}

func dup(fd int, name string) (*os.File, error) {
	d, err := dupFD(fd)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(d), name), nil
}

// dupFD returns another descriptor for the file of fd. Children do not inherit it.
func dupFD(fd int) (int, error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	d, err := syscall.Dup(fd)
	if err != nil {
		return -1, os.NewSyscallError("dup", err)
	}
	syscall.CloseOnExec(d)
	return d, nil
}

// divertOutput makes the descriptor of standard output refer to standard error, and returns a function that undoes it.
func divertOutput() (giveBack func() error, err error) {
	saved, err := dupFD(syscall.Stdout)
	if err != nil {
		return nil, err
	}
	giveBack = func() error {
		return errors.Join(os.NewSyscallError("dup2", dup2(saved, syscall.Stdout)), syscall.Close(saved))
	}
	if err := dup2(syscall.Stderr, syscall.Stdout); err != nil {
		return nil, errors.Join(os.NewSyscallError("dup2", err), syscall.Close(saved))
	}
	return giveBack, nil
}

// nonblocking reports whether the descriptor of f was in non-blocking mode when f was made.
func nonblocking(f *os.File) bool { return f.SetDeadline(time.Time{}) == nil }

// canWait reports whether f is a pipe or a socket, for which the runtime can wait.
func canWait(f *os.File) bool { return mode(f)&(fs.ModeNamedPipe|fs.ModeSocket) != 0 }

func isTerminal(f *os.File) bool { return mode(f)&fs.ModeCharDevice != 0 }

func mode(f *os.File) fs.FileMode {
	info, err := f.Stat()
	if err != nil {
		return 0
	}
	return info.Mode()
}

func sameStream(a, b *os.File) bool {
	x, err := a.Stat()
	if err != nil {
		return false
	}
	y, err := b.Stat()
	return err == nil && os.SameFile(x, y)
}
