package conn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/mcpotel/mcpotel/internal/client/machine"
	"github.com/mcpotel/mcpotel/internal/client/seam"
	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/internal/usercode"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// Two goroutines serve a connection, one after the other. The goroutine of run dials and negotiates, which needs a
// large stack. The goroutine of read waits for the server for nearly all of its life, so it is a new goroutine with a
// minimal stack. Over HTTP, it exists only while a request or a stream is open.

// run waits until the previous connection is closed, opens a connection, and negotiates a session.
func (l *openLink) run() {
	c := l.core
	if !c.acquire(l.ctx.Done()) {
		l.end(nil)
		return
	}
	ctx, attempt := l.startAttempt()
	if !l.open(ctx, attempt) {
		l.close()
		return
	}
	c.Telemetry.Queue(l.queued)
	if c.infoOf(l.conn).PID != 0 {
		c.Telemetry.Process(l.process)
	}
	l.negotiate(ctx, attempt)
}

// queued returns the number of messages that wait to be written.
func (l *openLink) queued() int { return l.core.infoOf(l.conn).Queued }

// process returns the id of the server's process, or 0 if the process has ended.
func (l *openLink) process() int {
	info := l.core.infoOf(l.conn)
	if info.Exit != nil {
		return 0
	}
	return info.PID
}

// infoOf returns the Info of a connection. If the transport panics, the Info is empty.
func (c *Conn) infoOf(conn transport.Conn) (info transport.Info) {
	usercode.Run(func() { info = conn.Info() }, c.Failed(c.Base, "Conn.Info"))
	return info
}

// open opens the connection with Dial. It reports whether the caller must negotiate.
func (l *openLink) open(ctx context.Context, attempt instrument.Attempt) bool {
	c := l.core
	trace := attempt.TraceContext()
	conn, err := l.dial(ctx, transport.Config{
		FrameLimit:   c.Settings.FrameLimit,
		SkipOversize: c.Settings.SkipOversize,
		SendQueue:    c.Settings.SendQueue,
		Logger:       c.Telemetry.Logger(),
		QueueWait:    c.Telemetry.QueueWait,
		Stream:       c.Telemetry.StreamOpened,
		Missed:       c.features.Missed,
		Traceparent:  trace.Traceparent,
		Tracestate:   trace.Tracestate,
		Baggage:      trace.Baggage,
		Propagated:   trace.Headers(),
		Authorizing:  func(on bool) { l.authorize(on) },
		Authorized:   func() { c.features.Authorized() },
		Failed:       func(name string, value any, stack []byte) { c.Telemetry.HandlerPanic(c.Base, name, value, stack) },
	})
	if err != nil {
		f := c.dialFailure(l.ctx, err)
		attempt.End(f)
		c.fail(l.epoch, f)
		return false
	}
	l.attach(conn)
	up := machine.Input{Event: machine.TransportUp, Epoch: l.epoch, Launched: c.infoOf(conn).PID != 0}
	if _, ok := c.step(up, nil); !ok {
		attempt.End(context.Cause(l.ctx))
		return false
	}
	return true
}

// dial calls the transport's Dial, and converts a panic to an error.
func (l *openLink) dial(ctx context.Context, cfg transport.Config) (conn transport.Conn, err error) {
	c := l.core
	if failed := c.apart("Transport.Dial", func() { conn, err = c.Transport.Dial(ctx, cfg) }); failed != nil {
		return nil, failed
	}
	return conn, err
}

// negotiate negotiates a session and starts to read it. If there is no session, it closes the connection.
func (l *openLink) negotiate(ctx context.Context, attempt instrument.Attempt) {
	for {
		in, again := l.agree(ctx, attempt)
		switch {
		case in != nil:
			l.core.goroutines.Go(func() { l.read(in) }) // the goroutine ends soon after the client hangs up
			return
		case !again:
			l.close()
			return
		}
		ctx, attempt = l.nextAttempt()
	}
}

// agree negotiates once, and ends the attempt. It returns the reader of the session. Without a session, in is nil, and
// the result again is true if the caller must negotiate again, in the next epoch.
func (l *openLink) agree(ctx context.Context, attempt instrument.Attempt) (in *Reader, again bool) {
	c := l.core
	lk := &Link{Epoch: l.epoch, Conn: l.conn, Ctx: l.ctx, end: l.end}
	in = &Reader{c: c, Link: lk, silent: l.isSilent()}
	s, err := l.handshake(ctx, lk, in)
	if err != nil {
		f := l.troubled(failureOf(err, machine.NegotiationFailed))
		if f.event == machine.ProbeLost {
			attempt.ProbeLost(f)
		} else {
			attempt.End(f)
		}
		lk.end(f)
		return nil, c.fail(lk.Epoch, f)
	}
	s.in = in
	switch conn := l.conn.(type) {
	case sender:
		s.sender, s.direct = conn, in.direct
	case seam.Interruptible:
		in.turn = &turn{pace: c.pace, interrupt: conn.Interrupter()}
	}
	attempt.Ready(s.Peer, s.Server.Name, s.Server.Version)
	l.renew()
	lk.Ctx, lk.end = l.ctx, l.end
	in.alive = c.watchOver(s)
	c.features.Negotiated()
	if _, ok := c.step(machine.Input{Event: machine.Negotiated, Epoch: lk.Epoch}, &fact{session: s}); !ok {
		in.alive.Stop()
		lk.end(errHungUp)
		return nil, false
	}
	in.Session = s
	c.features.Began(s)
	return in, false
}

// handshake performs a handshake, and converts a panic of the transport to an error.
func (l *openLink) handshake(ctx context.Context, lk *Link, in *Reader) (s *Session, err error) {
	h := &Handshake{c: l.core, link: lk, in: in, clock: &l.clock}
	introduction := l.core.Settings.Introduction
	if failed := l.core.apart("transport", func() { s, err = introduction.Introduce(ctx, h) }); failed != nil {
		s, err = nil, failed
	}
	h.abandon(err)
	return s, err
}

// read reads a session until the session ends, or until there is nothing to read. In the second case it returns, and
// the transport later calls wake, which starts read again.
func (l *openLink) read(in *Reader) {
	c := l.core
	returned := false
	defer func() {
		// recovered here and not by usercode.Run, because every idle client has this stack
		if failure := usercode.Caught(recover(), returned); failure != nil {
			c.goroutines.Go(func() { l.endSession(in.Link, failure) })
			c.Failed(c.Base, "transport")(failure)
		}
	}()
	var err error
	if conn, rests := l.conn.(rester); rests {
		// Stop closes the connection before it waits for these goroutines
		wake := func() { l.core.goroutines.Go(func() { l.read(in) }) }
		err = in.runUntilRest(conn, wake)
	} else {
		err = in.run()
	}
	returned = true
	if err != seam.ErrResting {
		l.endSession(in.Link, err)
	}
}

// endSession ends a session. It negotiates again if the state machine requires that.
func (l *openLink) endSession(lk *Link, err error) {
	lk.end(err)
	if !l.core.fail(lk.Epoch, failureOf(err, machine.TransportDown)) {
		l.close()
		return
	}
	ctx, attempt := l.nextAttempt()
	l.negotiate(ctx, attempt)
}

// nextAttempt starts another negotiation over the same connection.
func (l *openLink) nextAttempt() (context.Context, instrument.Attempt) {
	l.renew()
	return l.startAttempt()
}

// startAttempt starts the span of an attempt. The first span is a child of the caller's span. Each later span is the
// root of its own trace, with a link to the span of the previous attempt.
func (l *openLink) startAttempt() (context.Context, instrument.Attempt) {
	c := l.core
	c.mu.Lock()
	a := instrument.AttemptStart{Number: c.m.Attempt, Reconnect: c.m.Session > 0, Previous: c.attempt}
	if c.parent != nil {
		a.Parent, c.parent = *c.parent, nil
	}
	c.mu.Unlock()
	ctx, attempt := c.Telemetry.StartAttempt(l.ctx, a)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.attempt = attempt.Ref()
	return ctx, attempt
}

// closeConn closes the connection within 80 % of CloseTimeout.
func (l *openLink) closeConn() {
	c := l.core
	ctx, cancel := context.WithTimeout(context.Background(), c.Settings.CloseTimeout/10*8)
	defer cancel()
	var err error
	if failed := c.apart("Conn.Close", func() { err = l.conn.Close(ctx) }); failed != nil {
		err = failed
	}
	if err != nil {
		c.Telemetry.CloseFailed(err)
	}
}

// fail reports the end of a connection or a session to the machine. It reports whether the caller must negotiate again.
// The machine ignores errors that the client caused by hanging up itself.
func (c *Conn) fail(epoch uint64, f *failure) bool {
	effects, _ := c.step(machine.Input{Event: f.event, Epoch: epoch, Wait: f.wait},
		&fact{err: f.err, request: f.request, failed: f.failed})
	return slices.Contains(effects, machine.Negotiate)
}

// dialFailure converts an error of Dial to a failure. The failure's event decides whether another attempt follows.
func (c *Conn) dialFailure(life context.Context, err error) *failure {
	if life.Err() != nil {
		err = context.Cause(life)
	}
	if transport.Permanent(err) && !c.heals() {
		return &failure{event: machine.Refused, err: err}
	}
	return &failure{event: machine.OpenFailed, err: err}
}

// heals reports whether the client continues after every failed attempt to connect.
func (c *Conn) heals() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.Settings.Heals && c.m.Session > 0
}

// authorize records that a message of the connection starts or stops waiting for an authorization. While any message
// waits, the handshake gets more time, because a person may be involved.
func (l *openLink) authorize(on bool) {
	c := l.core
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn != l {
		return
	}
	event := machine.Held
	if on {
		l.authorizing++
	} else {
		event = machine.Resumed
		l.authorizing--
	}
	if on || l.authorizing == 0 {
		l.clock.hold(on)
		c.stepLocked(machine.Input{Event: event, Epoch: c.m.Epoch}, nil)
	}
}

// isSilent reports whether the server is a process that has sent no output yet.
func (l *openLink) isSilent() bool {
	m := &l.core.m
	l.core.mu.Lock()
	defer l.core.mu.Unlock()
	return m.Silent && m.Epoch == l.epoch
}

// spoke reports the first output of the server process to the machine.
func (c *Conn) spoke(epoch uint64) { c.step(machine.Input{Event: machine.Spoke, Epoch: epoch}, nil) }

// lastWords returns the last line on the standard error of a server process that has written no output within its start
// timeout. In all other cases it returns "". It calls the transport, so the caller must not hold mu.
func (c *Conn) lastWords() string {
	c.mu.Lock()
	var conn transport.Conn
	if c.m.Silent && !time.Now().Before(c.m.Deadline) && c.conn != nil {
		conn = c.conn.conn
	}
	c.mu.Unlock()
	if conn == nil {
		return ""
	}
	return c.infoOf(conn).LastWords
}

// note stores err, the reason why a message of the handshake is unusable, unless an earlier reason is stored. If the
// client continues, for example with initialize, and then fails for another reason, the stored error is the cause.
func (c *Conn) note(link *Link, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if l := c.conn; l != nil && l.epoch == link.Epoch && l.trouble == nil {
		l.trouble = err
		c.lastErr = cmp.Or(c.lastErr, err) // lastErr shows the error to code that inspects the client during the attempt
	}
}

// troubled adds the error of the handshake's first unusable message to f, unless f is already about that message.
func (l *openLink) troubled(f *failure) *failure {
	l.core.mu.Lock()
	defer l.core.mu.Unlock()
	if l.trouble == nil || f.event == machine.InvalidStreak || errors.Is(f.err, l.trouble) {
		return f
	}
	with := *f
	with.err = l.behind(f.err)
	return &with
}

// behind adds the error of the handshake's first unusable message to err. The caller holds core.mu.
func (l *openLink) behind(err error) error {
	if l == nil || l.trouble == nil {
		return err
	}
	return fmt.Errorf("%w; before that, %w", err, l.trouble)
}

// late returns the error of an attempt that took too long. It returns nil if the client is not in an attempt to
// connect. The caller holds mu.
func (c *Conn) late(lastWords string) error {
	if c.m.Silent {
		if lastWords != "" {
			lastWords = fmt.Sprintf("; its last output: %q", lastWords)
		}
		return fmt.Errorf("%w within %v: its process has written nothing to its standard output%s; raise the limit "+
			"with Options.Timeouts.Start", ErrSlow, max(c.Settings.StartTimeout, c.Settings.InitTimeout), lastWords)
	}
	if c.m.State != connstate.Starting && c.m.State != connstate.Initializing {
		return nil
	}
	patience, option := c.Settings.InitTimeout, "Timeouts.Init"
	if c.conn != nil && c.conn.authorizing > 0 {
		patience, option = c.Settings.AuthTimeout, "Timeouts.Auth"
	}
	return c.conn.behind(fmt.Errorf("%w within %v; raise the limit with Options.%s", ErrSlow, patience, option))
}

var ErrSlow = errors.New("the server was not ready")
