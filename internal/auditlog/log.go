package auditlog

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/mcpotel/mcpotel/internal/filelock"
)

// MinKey is the smallest size of a key, in bytes.
const MinKey = 16

// ErrClosed is the error of [Log.Append] after [Log.Close].
var ErrClosed = errors.New("audit: the log is closed")

// Log appends records to a chain. It is safe for concurrent use.
type Log struct {
	key   []byte
	keyID string

	mu     sync.Mutex
	file   file   // guarded by mu; nil for a chain without a file
	size   int64  // guarded by mu; end of the last complete line
	head   Head   // guarded by mu; the last line
	lost   uint64 // guarded by mu; records that could not be written since the last line
	broken error  // guarded by mu; why nothing can be written any more; nil while the file is usable
	buf    []byte // guarded by mu
}

// file is the part of an os.File that a Log needs.
type file interface {
	Write([]byte) (int, error)
	Truncate(int64) error
	Sync() error
	Close() error
}

// Open returns a Log that continues the file at path, or creates it. An empty path means a chain without a file. key is
// for [Log.HashArguments] and has at least MinKey bytes.
//
// Open locks the file: another Log on the same file, in this or another process, is an error. It reads only the end of
// the file, and appends a line.
func Open(path string, key []byte) (*Log, error) {
	if len(key) < MinKey {
		return nil, fmt.Errorf("audit: the key has %d bytes, want %d at least; create one with \"openssl rand -hex 32\"",
			len(key), MinKey)
	}
	l := &Log{key: append([]byte(nil), key...)}
	l.keyID = hex.EncodeToString(l.mac([]byte("mcpotel audit key"))[:8])
	if path == "" {
		return l, nil
	}
	if err := l.open(path); err != nil {
		return nil, fmt.Errorf("audit: %w", err)
	}
	return l, nil
}

func (l *Log) open(path string) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() { // opening a named pipe would block
		return fmt.Errorf("%s is not a regular file", path)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	if err := l.resume(f); err != nil {
		return errors.Join(fmt.Errorf("%s: %w", path, err), f.Close())
	}
	return nil
}

// resume locks f and continues its chain.
func (l *Log) resume(f *os.File) error {
	held, err := filelock.TryLock(f)
	switch {
	case err != nil:
		return fmt.Errorf("lock: %w", err)
	case !held:
		return errors.New("another process writes to this file, and a file has one writer: give each process its own file")
	}
	last, torn, size, err := tailOf(f)
	if err != nil {
		return err
	}
	l.file, l.size = f, size
	var before []byte
	if len(torn) > 0 {
		before = []byte{'\n'}                                                              // ends the incomplete line
		if whole, err := parseLine(append(torn[:len(torn):len(torn)], '\n')); err == nil { // only the line break is missing
			last, torn = whole, nil
		}
	}
	l.head = last.Head
	g := gap{Unclean: size > 0 && last.Event != eventClosed}
	if len(torn) > 0 {
		sum := sha256.Sum256(torn)
		g.Unclean, g.TornBytes, g.TornSHA256 = true, int64(len(torn)), hex.EncodeToString(sum[:])
	}
	lines, next := appendLine(before, l.head, time.Now(), eventOpened, g.fields())
	return l.write(lines, next)
}

// Append appends a record, and returns its head. After an error, the record is missing in the file; the next line that
// can be written counts the missing records. Append does not keep fields.
func (l *Log) Append(at time.Time, event string, fields []slog.Attr) (Head, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.broken != nil {
		l.lost++
		return Head{}, l.broken
	}
	lines, next := l.gapped(at)
	start := len(lines)
	lines, next = appendLine(lines, next, at, event, fields)
	if size := len(lines) - start; size > MaxLine {
		l.lost++
		return Head{}, fmt.Errorf("audit: the record has %d bytes, more than %d", size, MaxLine)
	}
	l.buf = lines
	if err := l.write(lines, next); err != nil {
		l.lost++
		return Head{}, err
	}
	l.lost = 0
	return next, nil
}

// gapped returns the line for lost records, if there are any, and the head to continue with.
func (l *Log) gapped(at time.Time) ([]byte, Head) {
	if l.lost == 0 {
		return l.buf[:0], l.head
	}
	g := gap{Lost: l.lost}
	return appendLine(l.buf[:0], l.head, at, eventGap, g.fields())
}

// write writes lines, the last of which has the head next. If it fails, the file is as before: an incomplete line is
// removed. If that fails too, the Log writes nothing more.
func (l *Log) write(lines []byte, next Head) error {
	if l.file == nil {
		l.head = next
		return nil
	}
	n, err := l.file.Write(lines)
	if err == nil {
		l.size, l.head = l.size+int64(n), next
		return nil
	}
	if n > 0 {
		if failed := l.file.Truncate(l.size); failed != nil {
			l.broken = fmt.Errorf("audit: the file ends with an incomplete line that could not be removed: %w",
				errors.Join(err, failed))
		}
	}
	return fmt.Errorf("audit: %w", err)
}

// Close appends a last line, flushes the file to the disk and closes it. A second Close does nothing.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := l.file
	if f == nil {
		if l.broken == nil {
			l.broken = ErrClosed
		}
		return nil
	}
	var err error
	if l.broken == nil {
		lines, next := l.gapped(time.Now())
		lines, next = appendLine(lines, next, time.Now(), eventClosed, nil)
		err = l.write(lines, next)
	}
	l.file, l.broken = nil, ErrClosed
	return errors.Join(err, f.Sync(), f.Close())
}

// KeyID identifies the key of the Log without disclosing it: 16 hexadecimal digits.
func (l *Log) KeyID() string { return l.keyID }

// HashArguments returns the HMAC-SHA-256 of the arguments of a call, in hexadecimal digits. Absent arguments count as an
// empty object. The hash is over the canonical form of RFC 8785, except that numbers keep their text. If the arguments
// have no canonical form, because a name occurs twice, the hash is over their text.
//
// HashArguments makes one copy of the arguments. The limits for messages bound their size.
func (l *Log) HashArguments(arguments []byte) string {
	if len(arguments) == 0 {
		arguments = []byte("{}")
	}
	return hex.EncodeToString(l.mac(canonical(arguments)))
}

func (l *Log) mac(text []byte) []byte {
	h := hmac.New(sha256.New, l.key)
	h.Write(text)
	return h.Sum(nil)
}

// canonical returns the canonical form of raw, or raw if there is none.
func canonical(raw []byte) []byte {
	v := jsontext.Value(raw).Clone()
	if v.Canonicalize(jsontext.CanonicalizeRawInts(false), jsontext.CanonicalizeRawFloats(false)) != nil {
		return raw
	}
	return v
}
