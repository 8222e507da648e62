package transport

import (
	"errors"
	"io"
	"os"
	"syscall"
	"time"
)

// pipeSize is how much a pipe holds at most: what [enlarge] asks for, which is also the most a user may ask for.
const pipeSize = 1 << 20

// outlet is the end we read of a pipe the child writes to. It can be cut: then what is in the pipe can still be read, and
// nothing is waited for.
type outlet struct {
	f    *os.File
	past int // bytes read since it was cut; owned by the reader
}

// cut may be called while somebody reads. On Windows it does nothing: pipes have no deadlines there, and need none, as no
// process that could hold the other end survives its job.
func (o *outlet) cut() { _ = o.f.SetReadDeadline(time.Unix(1, 0)) }

// resume undoes cut.
func (o *outlet) resume() { _ = o.f.SetReadDeadline(time.Time{}) }

// Read reads from the pipe. After a cut, it reads what is there, but not more than a pipe holds, lest somebody who writes
// on and on keep it open.
func (o *outlet) Read(p []byte) (int, error) {
	n, err := o.f.Read(p)
	if n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		return n, err
	}
	n, err = readNow(o.f, p[:min(len(p), pipeSize-o.past)])
	o.past += n
	if n == 0 && (err == nil || errors.Is(err, syscall.EAGAIN)) {
		return 0, io.EOF
	}
	return n, err
}
