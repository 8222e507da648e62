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

// A connection has one goroutine after the other. That of run dials and negotiates, which takes a large stack. That of
// read waits for the server nearly all its life, so it is a new one, whose stack is as small as they are made; over
// HTTP there is one only while something is on its way.

// run opens a connection and negotiates. No second connection is opened before this one is closed.
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
	l.negotiate(ctx, attempt)
}

// queued returns how many messages wait to be written.
func (l *openLink) queued() int { return l.core.infoOf(l.conn).Queued }

// infoOf returns what a connection knows about itself.
func (c *Conn) infoOf(conn transport.Conn) (info transport.Info) {
	usercode.Run(func() { info = conn.Info() }, c.Failed(c.Base, "Conn.Info"))
	return info
}

// open dials, and reports whether the connection is to negotiate.
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

// dial calls the transport's Dial. If that fails to return, it is an error like any other.
func (l *openLink) dial(ctx context.Context, cfg transport.Config) (conn transport.Conn, err error) {
	c := l.core
	if failed := c.apart("Transport.Dial", func() { conn, err = c.Transport.Dial(ctx, cfg) }); failed != nil {
		return nil, failed
	}
	return conn, err
}

// negotiate makes a session and has it read, or leaves the connection if it is of no use.
func (l *openLink) negotiate(ctx context.Context, attempt instrument.Attempt) {
	for {
		in, again := l.agree(ctx, attempt)
		switch {
		case in != nil:
			l.core.goroutines.Go(func() { l.read(in) }) // ends soon after the client hangs up
			return
		case !again:
			l.close()
			return
		}
		ctx, attempt = l.nextAttempt()
	}
}

// agree negotiates once, and ends the attempt. It returns the reader of the session, or whether the connection is to
// negotiate anew, in the next epoch.
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

// handshake performs a handshake. If code of the transport's fails to return, that is an error like any other.
func (l *openLink) handshake(ctx context.Context, lk *Link, in *Reader) (s *Session, err error) {
	h := &Handshake{c: l.core, link: lk, in: in, clock: &l.clock}
	introduction := l.core.Settings.Introduction
	if failed := l.core.apart("transport", func() { s, err = introduction.Introduce(ctx, h) }); failed != nil {
		s, err = nil, failed
	}
	h.abandon(err)
	return s, err
}

// read reads a session until it is over, or until there is nothing to read. Then no goroutine reads as long as that is
// so.
func (l *openLink) read(in *Reader) {
	c := l.core
	returned := false
	defer func() {
		if failure := usercode.Caught(recover(), returned); failure != nil { // here, for an idle client has all of this stack
			c.goroutines.Go(func() { l.endSession(in.Link, failure) })
			c.Failed(c.Base, "transport")(failure)
		}
	}()
	var err error
	if conn, rests := l.conn.(rester); rests {
		wake := func() { l.core.goroutines.Go(func() { l.read(in) }) } // which Stop closes before it waits
		err = in.runUntilRest(conn, wake)
	} else {
		err = in.run()
	}
	returned = true
	if err != seam.ErrResting {
		l.endSession(in.Link, err)
	}
}

// endSession ends a session. If the connection is to negotiate anew then, it does so.
func (l *openLink) endSession(lk *Link, err error) {
	lk.end(err)
	if !l.core.fail(lk.Epoch, failureOf(err, machine.TransportDown)) {
		l.close()
		return
	}
	ctx, attempt := l.nextAttempt()
	l.negotiate(ctx, attempt)
}

// nextAttempt starts to negotiate anew over the same connection.
func (l *openLink) nextAttempt() (context.Context, instrument.Attempt) {
	l.renew()
	return l.startAttempt()
}

// startAttempt starts the span of an attempt. The first is a child of the caller's span; each later one is the root of
// a trace of its own with a link to the one before.
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

// closeConn gives the connection its time to close.
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

// fail tells the machine why a connection or a session is over, and reports whether the connection is to negotiate
// anew. An error that comes of the client's own hanging up tells it nothing.
func (c *Conn) fail(epoch uint64, f *failure) bool {
	effects, _ := c.step(machine.Input{Event: f.event, Epoch: epoch, Wait: f.wait},
		&fact{err: f.err, request: f.request, failed: f.failed})
	return slices.Contains(effects, machine.Negotiate)
}

// dialFailure says whether another attempt may help.
func (c *Conn) dialFailure(life context.Context, err error) *failure {
	if life.Err() != nil {
		err = context.Cause(life)
	}
	if transport.Permanent(err) && !c.heals() {
		return &failure{event: machine.Refused, err: err}
	}
	return &failure{event: machine.OpenFailed, err: err}
}

// heals reports whether no failed attempt to connect ends the client.
func (c *Conn) heals() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.Settings.Heals && c.m.Session > 0
}

// authorize hears that a message of the connection waits for an authorization, or goes on. The handshake gets more time
// as long as one does: there may be a person at work.
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

// isSilent reports whether the server is a process that is starting.
func (l *openLink) isSilent() bool {
	m := &l.core.m
	l.core.mu.Lock()
	defer l.core.mu.Unlock()
	return m.Silent && m.Epoch == l.epoch
}

// spoke hears that it has said something.
func (c *Conn) spoke(epoch uint64) { c.step(machine.Input{Event: machine.Spoke, Epoch: epoch}, nil) }

// lastWords are those of a process that was given all the time there is to start, and has said nothing. They come from
// the transport, so mu must not be held.
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

// note keeps err, why a message of the handshake could not be used, if it is the first. The client may go on, such as
// with initialize, and fail for another reason: then the first one is the cause.
func (c *Conn) note(link *Link, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if l := c.conn; l != nil && l.epoch == link.Epoch && l.trouble == nil {
		l.trouble = err
		c.lastErr = cmp.Or(c.lastErr, err) // for those that look while the attempt goes on
	}
}

// troubled returns f, with the first message that could not be used unless f is about that.
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

// behind returns err with the trouble before it. core.mu is held.
func (l *openLink) behind(err error) error {
	if l == nil || l.trouble == nil {
		return err
	}
	return fmt.Errorf("%w; before that, %w", err, l.trouble)
}

// late returns why it matters that the machine's deadline has passed: an attempt took too long. It is called with mu
// held.
func (c *Conn) late(lastWords string) error {
	if c.m.Silent {
		if lastWords != "" {
			lastWords = fmt.Sprintf("; its last words: %q", lastWords)
		}
		return fmt.Errorf("%w within %v: its process has written nothing to its standard output%s; Options.StartTimeout "+
			"gives it longer", ErrSlow, max(c.Settings.StartTimeout, c.Settings.InitTimeout), lastWords)
	}
	if c.m.State != connstate.Starting && c.m.State != connstate.Initializing {
		return nil
	}
	patience, option := c.Settings.InitTimeout, "InitTimeout"
	if c.conn != nil && c.conn.authorizing > 0 {
		patience, option = c.Settings.AuthTimeout, "AuthTimeout"
	}
	return c.conn.behind(fmt.Errorf("%w within %v; Options.%s gives it longer", ErrSlow, patience, option))
}

var ErrSlow = errors.New("the server was not ready")
