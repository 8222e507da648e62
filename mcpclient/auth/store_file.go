package auth

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/mcpotel/mcpotel/internal/atomicfile"
)

const (
	recordSuffix = ".json"

	recordLimit = 1 << 20   // maximum size of a file in bytes, far more than any record needs
	abandoned   = time.Hour // age after which a partly written file is removed
)

// FileStore is a [TokenStore] with one file per key, in a directory that only the user can read. The files are not
// encrypted. Each write replaces the whole file atomically, so several goroutines and processes may share the
// directory. If two processes save the same key, the last write wins.
type FileStore struct{ dir string }

// storedFile is the content of a file. It contains the key for people who inspect the file, because the file name is
// a hash.
type storedFile struct {
	Resource string          `json:"resource"`
	Issuer   string          `json:"issuer"`
	Client   string          `json:"client"`
	Record   json.RawMessage `json:"record"`
}

// CorruptError reports a file of a [FileStore] that cannot be decoded. Save with the same key replaces the file;
// Delete removes it. Both lose only an authorization that cannot be used.
type CorruptError struct {
	Path string
	Err  error // contains no text of the file
}

// Error names the file and states that it may be deleted. The user then signs in again.
func (e *CorruptError) Error() string {
	return fmt.Sprintf("stored authorization %s is corrupt and may be deleted: %v", e.Path, e.Err)
}

// Unwrap returns the cause.
func (e *CorruptError) Unwrap() error { return e.Err }

// NewFileStore returns the store in dir. It creates a missing directory for this user only. It returns an error if
// others can read or write the directory. Windows has no such permissions; there, use a directory in the user's
// profile, which belongs to the user. NewFileStore also removes files that a crashed process left partly written.
func NewFileStore(dir string) (*FileStore, error) {
	if dir == "" {
		return nil, errors.New("file store: the directory is not set")
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("file store: %w", err)
	}
	info, err := os.Stat(dir)
	if err != nil {
		return nil, fmt.Errorf("file store: %w", err)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 && runtime.GOOS != "windows" {
		return nil, fmt.Errorf("file store: other users can access directory %s (mode %04o, want 0700)", dir, mode)
	}
	s := &FileStore{dir: dir}
	s.sweep()
	return s, nil
}

// Load returns the record of key, or nil if there is none. It returns a [*CorruptError] if the file cannot be
// decoded.
func (s *FileStore) Load(ctx context.Context, key StoreKey) (*Record, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	path := s.path(key)
	data, err := readSmall(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("file store: %w", err)
	}
	r, err := decodeFile(data, key)
	if err != nil {
		return nil, &CorruptError{Path: path, Err: err}
	}
	return r, nil
}

// Save writes the record of key to disk before it returns. A nil r deletes the record.
func (s *FileStore) Save(ctx context.Context, key StoreKey, r *Record) error {
	if r == nil {
		return s.Delete(ctx, key)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	data, err := encodeFile(key, r)
	if err != nil {
		return fmt.Errorf("file store: %w", err)
	}
	if err := atomicfile.Replace(ctx, s.path(key), data, 0o600, nil); err != nil {
		return fmt.Errorf("file store: %w", err)
	}
	return nil
}

// Delete removes the record of key, if there is one.
func (s *FileStore) Delete(ctx context.Context, key StoreKey) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := os.Remove(s.path(key)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("file store: %w", err)
	}
	return nil
}

// path returns the file of a key. It hashes each part of the key with its length, so that different keys have
// different hashes and no part can choose the file name.
func (s *FileStore) path(key StoreKey) string {
	h := sha256.New()
	for _, part := range []string{key.Resource, key.Issuer, key.Client} {
		_, _ = fmt.Fprintf(h, "%d:%s", len(part), part)
	}
	return filepath.Join(s.dir, hex.EncodeToString(h.Sum(nil))+recordSuffix)
}

// sweep removes files that a crashed process did not rename.
func (s *FileStore) sweep() {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && info.Mode().IsRegular() && strings.HasSuffix(e.Name(), atomicfile.Suffix) &&
			time.Since(info.ModTime()) > abandoned {
			_ = os.Remove(filepath.Join(s.dir, e.Name()))
		}
	}
}

func readSmall(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return io.ReadAll(io.LimitReader(f, recordLimit+1))
}

func encodeFile(key StoreKey, r *Record) ([]byte, error) {
	record, err := EncodeRecord(r)
	if err != nil {
		return nil, err
	}
	data, err := json.MarshalIndent(storedFile{key.Resource, key.Issuer, key.Client, record}, "", "  ")
	if err == nil && len(data) > recordLimit {
		err = fmt.Errorf("record of %d bytes exceeds the limit of %d", len(data), recordLimit)
	}
	return data, err
}

func decodeFile(data []byte, key StoreKey) (*Record, error) {
	if len(data) > recordLimit {
		return nil, fmt.Errorf("file exceeds the limit of %d bytes", recordLimit)
	}
	var f storedFile
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, jsonErrorWithoutText(err)
	}
	if (StoreKey{f.Resource, f.Issuer, f.Client}) != key {
		return nil, errors.New("file belongs to another server or client")
	}
	return DecodeRecord(f.Record)
}
