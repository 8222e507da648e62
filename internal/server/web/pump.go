package web

import (
	"io"
	"os"
	"time"

	"github.com/mcpotel/mcpotel/internal/usercode"
)

// pump reads a body with a deadline if the response writer supports none, for example behind middleware without a
// method Unwrap. It reads in a separate goroutine and buffer, so that the goroutine of the request can leave at the
// deadline. Only that goroutine calls Read and stop.
//
// An abandoned read ends soon after the handler has returned, because net/http then interrupts it in HTTP/1 and HTTP/2.
type pump struct {
	until time.Time     // the deadline; zero for none
	want  chan struct{} // capacity 1; asks for another read; closed by stop
	got   chan gulp     // capacity 1, so that fill never blocks
	asked bool          // a read was requested and has not returned yet
	have  gulp
}

// gulp is the result of one read.
type gulp struct {
	data   []byte
	err    error
	failed *usercode.Failure // panic or exit of user code that wraps the body
}

const pumpSize = 4 << 10 // maximum bytes of one read

func newPump(body io.Reader, until time.Time) *pump {
	p := &pump{until: until, want: make(chan struct{}, 1), got: make(chan gulp, 1)}
	go func() { // ends after stop, or after the read in progress
		buf := make([]byte, pumpSize)
		for range p.want {
			p.fill(body, buf)
		}
	}()
	return p
}

// fill reads once and sends the result.
func (p *pump) fill(body io.Reader, buf []byte) {
	var g gulp
	defer func() { p.got <- g }()
	usercode.Run(func() {
		var n int
		n, g.err = body.Read(buf)
		g.data = buf[:n]
	}, func(f *usercode.Failure) { g.failed = f })
}

// Read implements io.Reader. After the deadline it returns os.ErrDeadlineExceeded.
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

// await waits for the result of a read.
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

// stop ends the pump's goroutine. The caller must not read after it.
func (p *pump) stop() { close(p.want) }
