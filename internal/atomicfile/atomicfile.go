// Package atomicfile replaces files so that readers see either the old content or the new content, and a crash leaves
// one of the two.
package atomicfile

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"
)

// Suffix is the suffix of files that Replace has not renamed yet. A crash may leave such a file behind.
const Suffix = ".part"

const (
	renameTries = 20
	renameWait  = 25 * time.Millisecond
)

// Replace writes data to a new file in the directory of path, syncs it, and renames it to path. The directory must
// exist. The file gets mode; zero means 0666 minus the umask.
//
// Replace calls check, unless it is nil, immediately before the rename. If check fails, Replace returns its error and
// changes nothing. On Windows, ctx bounds the wait for another process that has path open.
func Replace(ctx context.Context, path string, data []byte, mode fs.FileMode, check func() error) error {
	first := fs.FileMode(0o666)
	if mode != 0 {
		first = 0o600
	}
	dir := filepath.Dir(path)
	f, err := os.OpenFile(filepath.Join(dir, "."+rand.Text()+Suffix), os.O_WRONLY|os.O_CREATE|os.O_EXCL, first)
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }() // harmless after the rename: the file is gone
	_, err = f.Write(data)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil && mode != 0 {
		err = os.Chmod(f.Name(), mode)
	}
	if err == nil && check != nil {
		err = check()
	}
	if err == nil {
		err = rename(ctx, f.Name(), path)
	}
	if err == nil {
		syncDirectory(dir)
	}
	return err
}

// rename retries on Windows, where a process that reads the file blocks the rename.
func rename(ctx context.Context, from, to string) error {
	for try := 1; ; try++ {
		err := os.Rename(from, to)
		if err == nil || runtime.GOOS != "windows" || !errors.Is(err, fs.ErrPermission) || try == renameTries {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(renameWait):
		}
	}
}

// syncDirectory makes a rename durable, on systems that can sync a directory.
func syncDirectory(dir string) {
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}
