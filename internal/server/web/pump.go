package web

import (
	"io"
	"os"
	"time"

	"github.com/mcpotel/mcpotel/internal/usercode"
)

// pump reads a body up to a deadline where the writer of the response allows none, as behind middleware whose writer
// has no method Unwrap. It reads in a goroutine and into a buffer of its own, so a goroutine that waits for it can
// leave. It is used by the goroutine of its request.
//
// A read that is left behind ends soon after the handler has returned: net/http interrupts it then, over HTTP/1 and
// over HTTP/2.
type pump struct {
	until time.Time     // the deadline; zero for none
	want  chan struct{} // of one element: more is wanted; closed when nothing is
	got   chan gulp     // of one element, so that no reader has to be there to take it
	asked bool          // more was asked for and is not there yet
	have  gulp
}

// gulp is what one read has returned.
type gulp struct {
	data   []byte
	err    error
	failed *usercode.Failure // code of the user's around the body
}

const pumpSize = 4 << 10 // bytes that one read may return

func newPump(body io.Reader, until time.Time) *pump {
	p := &pump{until: until, want: make(chan struct{}, 1), got: make(chan gulp, 1)}
	go func() { // ends with stop, or with the read that is under way then
		buf := make([]byte, pumpSize)
		for range p.want {
			p.fill(body, buf)
		}
	}()
	return p
}

// fill reads once, whatever becomes of that.
func (p *pump) fill(body io.Reader, buf []byte) {
	var g gulp
	defer func() { p.got <- g }()
	usercode.Run(func() {
		var n int
		n, g.err = body.Read(buf)
		g.data = buf[:n]
	}, func(f *usercode.Failure) { g.failed = f })
}

// Read implements io.Reader. Beyond the deadline it returns os.ErrDeadlineExceeded.
func (p *pump) Read(b []byte) (n int, err error) {
	if len(p.have.data) == 0 && p.have.err == nil {
		if err := p.await(); err != nil {
			return 0, err
		}
	}
	n = copy(b, p.have.data)
	if p.have.data = p.have.data[n:]; len(p.have.data) == 0 {
		err = p.have.err
	}
	return n, err
}

// await waits for more.
func (p *pump) await() error {
	if !p.asked {
		p.asked = true
		p.want <- struct{}{}
	}
	var over <-chan time.Time
	if !p.until.IsZero() {
		t := time.NewTimer(time.Until(p.until))
		defer t.Stop()
		over = t.C
	}
	select {
	case p.have = <-p.got:
		p.asked = false
	case <-over:
		return os.ErrDeadlineExceeded
	}
	if p.have.failed != nil {
		p.have.failed.Repeat()
	}
	return nil
}

// stop ends the pump's goroutine. Nothing may be read any more.
func (p *pump) stop() { close(p.want) }
