// Package userfile reads and changes files that belong to the user and that several programs may change.
package userfile

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/mcpotel/mcpotel/internal/atomicfile"
	"github.com/mcpotel/mcpotel/internal/filelock"
)

// MaxSize bounds the size of a file to change, in bytes.
const MaxSize = 64 << 20

// Change replaces a file with the result of edit, which gets the current text, or nil if there is no file. Every file
// that this program both reads and writes goes through Change. Changes by several processes of one user happen one
// after the other, and a reader sees either the old file or the new file. Change writes nothing if edit fails, if edit
// returns the same text, or if another program has changed the file since Change read it.
//
// If path is a symbolic link, the link stays and its target is replaced. The file gets mode; a zero mode keeps the
// mode of the file, or gives a new file the default mode.
func Change(path string, mode fs.FileMode, edit func(now []byte) ([]byte, error)) error {
	unlock, err := lockFiles()
	if err != nil {
		return err
	}
	defer unlock()
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	before, info, err := Read(path, MaxSize)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	after, err := edit(before)
	if err != nil || before != nil && bytes.Equal(before, after) {
		return err
	}
	if info != nil {
		mode = cmp.Or(mode, info.Mode().Perm())
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return atomicfile.Replace(context.Background(), path, after, mode, func() error {
		now, _, err := Read(path, MaxSize)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if !bytes.Equal(now, before) {
			return ErrChanged
		}
		return nil
	})
}

// ErrChanged reports that another process has changed the file since it was read.
var ErrChanged = errors.New("another process has changed the file, so nothing was written: try again")

// Read reads a regular file of at most most bytes. The text and the information come from the same open file, so they
// match even if the file is replaced.
func Read(path string, most int64) ([]byte, fs.FileInfo, error) {
	if info, err := os.Stat(path); err != nil {
		return nil, nil, err
	} else if !info.Mode().IsRegular() { // opening a named pipe would block
		return nil, nil, errors.New("not a file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, errors.New("not a file")
	}
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if int64(len(text)) > most {
		return nil, nil, fmt.Errorf("larger than %d MiB", most>>20)
	}
	return text, info, err
}

const (
	lockPatience = 10 * time.Second // a change takes milliseconds
	lockPause    = 5 * time.Millisecond
)

// lockFiles waits until no other process of this user changes files. unlock releases the lock, and so does the end of
// the process.
func lockFiles() (unlock func(), _ error) {
	f, err := openLock()
	if err != nil {
		return nil, fmt.Errorf("lock: %w", err)
	}
	deadline := time.Now().Add(lockPatience)
	for {
		held, err := filelock.TryLock(f)
		switch {
		case err == nil && held:
			return func() { f.Close() }, nil
		case err == nil && time.Now().After(deadline):
			err = fmt.Errorf("another mcpotel process has held %s for %v: try again when that process has ended", f.Name(),
				lockPatience)
		}
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		time.Sleep(lockPause)
	}
}

// openLock opens the lock file: in the user's cache directory, or in the directory for temporary files if the cache
// directory cannot be written.
func openLock() (*os.File, error) {
	var f *os.File
	dir, err := os.UserCacheDir()
	if err == nil {
		dir = filepath.Join(dir, "mcpotel")
		if err = os.MkdirAll(dir, 0o700); err == nil {
			f, err = os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
		}
	}
	if err == nil {
		return f, nil
	}
	return os.OpenFile(filepath.Join(os.TempDir(), fmt.Sprintf("mcpotel-%d.lock", os.Getuid())), os.O_RDWR|os.O_CREATE,
		0o600)
}
