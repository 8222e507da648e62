package main

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
)

// changeFile replaces a file with the result of edit, which gets its present text: nil if there is no file. Every file
// that this program reads, changes and writes goes through here. Changes by all its processes of one user happen one
// after the other, and a reader sees either the old file or the new one. changeFile writes nothing if edit fails, if
// edit returns the same text, or if another program has changed the file in the meantime.
//
// A symbolic link at path stays, and the file that it leads to is replaced. That file gets this mode; zero means the
// mode that it has, or that of any new file.
func changeFile(path string, mode fs.FileMode, edit func(now []byte) ([]byte, error)) error {
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
	before, info, err := readRegular(path, mostOfAFile)
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
		now, _, err := readRegular(path, mostOfAFile)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if !bytes.Equal(now, before) {
			return errChanged
		}
		return nil
	})
}

var errChanged = errors.New("another process has changed it, so nothing was written: try again")

// readRegular reads a regular file of at most so many bytes. The text and what is known of the file are of one open
// file, so that nothing else can take its place in between.
func readRegular(path string, most int64) ([]byte, fs.FileInfo, error) {
	if info, err := os.Stat(path); err != nil {
		return nil, nil, err
	} else if !info.Mode().IsRegular() { // to open a named pipe would wait
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

// lockFiles waits until no other process of this user changes files, and returns a function that lets the next one do
// so. The lock ends with the process that holds it.
func lockFiles() (unlock func(), _ error) {
	f, err := openLock()
	if err != nil {
		return nil, fmt.Errorf("lock: %w", err)
	}
	deadline := time.Now().Add(lockPatience)
	for {
		held, err := tryLock(f)
		switch {
		case err == nil && held:
			return func() { f.Close() }, nil
		case err == nil && time.Now().After(deadline):
			err = fmt.Errorf("another mcpotel has held %s for %v: try again when it has ended", f.Name(), lockPatience)
		}
		if err != nil {
			return nil, errors.Join(err, f.Close())
		}
		time.Sleep(lockPause)
	}
}

// openLock opens the file that is locked: in the user's cache directory, or in that for temporary files if the user has
// none that can be written.
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
