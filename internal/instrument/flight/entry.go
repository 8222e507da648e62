package flight

import (
	"encoding/hex"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/mcpclient/connstate"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
)

// Entry is an entry with its trace. Few entries have a trace, because most operations are in no sampled or recorded
// trace.
type Entry struct {
	Brief
	Trace trace.TraceID
}

// Brief is an entry as the ring stores it. It has a fixed size and no pointers to data of a peer. The names in About
// are metric labels.
type Brief struct {
	At             time.Duration // start of the entry since the base of the recorder
	Elapsed        time.Duration // duration; zero until the end
	About          Subject
	Word           Label // error type, reason or status, from a closed or limited set
	ID             int64 // id of a sent request
	Name           [16]byte
	Out, In        int64  // sizes in bytes; two other numbers for a kind without sizes
	Count          uint32 // number of equal entries in a row; zero means one
	Retries, Round uint16
	Kind           Kind
	Direction      telemetry.Direction
	From, To       uint8 // states of the connection
	PeerIDLen      uint8 // number of bytes of Name that hold the peer's id; zero if Name holds the correlation id
	Ended, Failed  bool
}

// Kind is the kind of an entry.
type Kind uint8

// The kinds. kindWords has the same order.
const (
	Request Kind = iota
	Handler
	Notification
	Attempt
	Transition
	Backoff
	Violation
	Drop
	Lost
	Panic
	Exit
	Stream
	Session
	Task
	Failure
)

var kindWords = []string{
	Request: "request", Handler: "handler", Notification: "notification", Attempt: "attempt",
	Transition: "transition", Backoff: "backoff", Violation: "violation", Drop: "drop",
	Lost: "lost", Panic: "panic", Exit: "exit", Stream: "stream", Session: "session",
	Task: "task", Failure: "failure",
}

// Ending describes how an operation ended.
type Ending struct {
	Elapsed        time.Duration
	Word           string // error type, status or type of the result; empty for none
	Failed         bool
	Out, In        int // bytes sent and received
	Retries, Round int
}

// Complete adds the end of the operation to its entry.
func (e *Brief) Complete(end *Ending) {
	e.Ended, e.Failed, e.Elapsed = true, end.Failed, end.Elapsed
	e.Out, e.In, e.Retries, e.Round = int64(end.Out), int64(end.In), uint16(end.Retries), uint16(end.Round)
	if end.Word != "" {
		e.Word = LabelOf(end.Word)
	}
}

// SetPeerID sets the text of the id that the peer has chosen. The entry keeps its first 16 bytes.
func (e *Brief) SetPeerID(id string) { e.PeerIDLen = uint8(copy(e.Name[:], id)) }

// SetPeerIntID is SetPeerID for an integer id.
func (e *Brief) SetPeerIntID(id int64) {
	var text [20]byte
	e.PeerIDLen = uint8(copy(e.Name[:], strconv.AppendInt(text[:0], id, 10)))
}

// repeatedBy reports whether o has the same kind, subject, reason and direction as e, and the kind repeats.
func (e *Brief) repeatedBy(o *Brief) bool {
	return e.Kind == o.Kind && e.Kind.repeats() && e.About == o.About && e.Word == o.Word && e.Direction == o.Direction
}

// repeats reports whether a peer can cause any number of entries of this kind.
func (k Kind) repeats() bool {
	return k == Notification || k == Violation || k == Drop || k == Lost || k == Panic
}

// show returns the entry in the form for users.
func (e *Entry) show(base time.Time) telemetry.FlightEntry {
	method, target := e.About.names()
	s := telemetry.FlightEntry{
		Time: base.Add(e.At), Kind: kindWords[e.Kind], Method: method, Target: target,
		Pending: !e.Ended, Failed: e.Failed, Reason: e.Word.String(), Elapsed: e.Elapsed,
		Retries: int(e.Retries), Round: int(e.Round),
	}
	if e.Count > 1 {
		s.Count = int(e.Count)
	}
	if e.Trace.IsValid() {
		s.TraceID = e.Trace.String()
	}
	if e.PeerIDLen == 0 && e.Name != [16]byte{} {
		s.CorrID = hex.EncodeToString(e.Name[:])
	}
	switch {
	case e.PeerIDLen > 0:
		s.ID = strings.ToValidUTF8(string(e.Name[:e.PeerIDLen]), "?")
	case e.ID > 0:
		s.ID = strconv.FormatInt(e.ID, 10)
	}
	e.showNumbers(&s)
	return s
}

// showNumbers sets the fields for the two numbers of the entry, according to its kind.
func (e *Entry) showNumbers(s *telemetry.FlightEntry) {
	switch e.Kind {
	case Request, Handler, Notification:
		s.Direction, s.BytesSent, s.BytesReceived = e.Direction.String(), int(e.Out), int(e.In)
	case Transition:
		s.From, s.To = connstate.State(e.From).String(), connstate.State(e.To).String()
		s.Epoch, s.Attempt = e.Out, e.In
	case Attempt, Backoff:
		s.Attempt = e.In
	case Violation:
		s.Direction, s.Size, s.Limit = e.Direction.String(), e.Out, e.In
	case Drop, Lost:
		s.Direction = telemetry.DirectionReceived.String()
	case Exit:
		s.PID, s.Code = e.Out, e.In
	case Stream:
		s.Closed = e.Out != 0
	}
}
