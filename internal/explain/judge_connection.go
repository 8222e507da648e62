package explain

import (
	"fmt"
	"strings"

	"github.com/mcpotel/mcpotel/mcpclient/connstate"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// lost reports whether the subject ended with its connection.
func (v *view) lost() bool { return v.subject.failed && v.subject.reason == names.ErrorConnectionLost }

// exited judges a server whose process ended.
func exited(v *view) *Cause {
	e := v.happened(kindExit)
	if e == nil || !v.lost() {
		return nil
	}
	if e.Reason != "" {
		return meaning{"server_killed", "The server's process was ended by " + name(e.Reason) + " while it worked on the " +
			"call.",
			"look for who killed it: SIGKILL is often for lack of memory, SIGSEGV a crash of its own. The client starts it " +
				"again"}.
			cause(Certain, v.subject.ended(), v.record(e))
	}
	return meaning{"server_exited", fmt.Sprintf("The server's process exited with status %d while it worked on the call.",
		e.Code), "read the last words of its standard error, which the client's error has; the client starts it again"}.
		cause(Certain, v.subject.ended(), v.record(e))
}

// sessionGone judges a server over HTTP that has forgotten the session.
func sessionGone(v *view) *Cause {
	e := v.happened(kindTransition, connstate.SessionGone.String())
	if e == nil || !v.subject.failed {
		return nil
	}
	return meaning{"session_expired", "The server does not know the session any more: it has expired, or the server was " +
		"started anew.", "call again: the client opens a new session by itself. What the server knew of the old one is lost"}.
		cause(Certain, v.subject.ended(), v.record(e))
}

// silent judges a connection on which not even a ping was answered.
func silent(v *view) *Cause {
	if !v.lost() {
		return nil
	}
	for _, p := range v.near {
		if p.Kind == kindRequest && p.Method == "ping" && p.Failed {
			return meaning{"connection_silent", "The server said nothing for so long, not even to a ping, that the client " +
				"gave " +
				"the connection up.", "the server hangs, or the network between the two is cut without a word: look whether it " +
				"runs"}.
				cause(Likely, v.subject.ended(), v.record(&p))
		}
	}
	return nil
}

// closed judges a connection that ended for no reason that is known.
func closed(v *view) *Cause {
	if !v.lost() {
		return nil
	}
	const do = "look into the server's log for that moment; the client connects again by itself. The call may have been " +
		"carried out: repeat it only if that does no harm"
	if e := v.entry(backoff); e != nil {
		return meaning{"connection_closed", "The connection ended before the answer: the server, or something between, " +
			"closed it.", do}.cause(Certain, v.subject.ended(), v.record(e))
	}
	if v.subject.peer != nil {
		return meaning{"answer_cut_off", "The answer ended before it was whole. The connection to the server is there still.",
			"look at proxies between the two, which end responses that last too long. " + do}.cause(Likely, v.subject.ended(),
			"the client recorded no loss of the connection")
	}
	return meaning{"connection_closed", "The connection ended before the answer.", do}.cause(Certain, v.subject.ended())
}

// stopped judges a client that was stopped.
func stopped(v *view) *Cause {
	s := v.subject
	if s.reason != names.ErrorShutdown {
		return nil
	}
	if c := v.client(); c != nil && c.Client.GaveUp != "" {
		return v.gaveUp(c)
	}
	m := meaning{"client_stopped", "The client had been stopped before the call.", "make the call before Stop, or " +
		"with a new client"}
	if s.id != "" {
		m = meaning{"client_stopped", "The client was stopped while the call was under way.",
			"let calls end before the client is stopped: Drain waits for them"}
	}
	return m.cause(Certain, s.ended())
}

// gaveUp judges a client that tries no more.
func (v *view) gaveUp(c *Peer) *Cause {
	cause := connecting(c.Client.GaveUp, "")
	cause.Text = "The client has given up for good. " + cause.Text
	cause.Evidence = append(cause.Evidence, v.subject.ended())
	return cause
}

// loop judges a call that the client did not send.
func loop(v *view) *Cause {
	if v.subject.reason != names.ErrorLoop {
		return nil
	}
	return meaning{"loop", "The client did not send the call, because the ones before it brought nothing new " +
		"(loop detection).", "do something else than to repeat the call: other arguments, another tool, or ask the user"}.
		cause(Certain, v.subject.ended())
}

// left judges a call whose caller did not want it any more.
func left(v *view) *Cause {
	if v.subject.reason != names.ErrorCancelled || v.subject.side != clientSide {
		return nil
	}
	return meaning{"caller_left", fmt.Sprintf("The caller itself cancelled the call, %s.", v.howLong()),
		"nothing is wrong with the server as far as is known: look at why the caller cancelled"}.cause(Certain,
		v.subject.ended())
}

// notReady judges a call that found no connection.
func notReady(v *view) *Cause {
	s := v.subject
	if s.reason != names.ErrorNotReady {
		return nil
	}
	c := v.client()
	if c == nil {
		return meaning{"not_connected", "The client had no connection to its server at that moment.",
			"look at the client's attempts to connect; WaitForReady lets a call wait"}.cause(Certain, s.ended())
	}
	var last *telemetry.FlightEntry // that says why there is no connection
	for i := range c.Recent {
		if e := &c.Recent[i]; !e.Time.After(s.start) && (backoff(e) || e.Kind == kindAttempt && e.Failed) {
			last = e
		}
	}
	if last == nil {
		return meaning{"connecting", "The client was still connecting to its server.",
			"wait a moment and call again; Await waits for the connection, and WaitForReady lets a call wait"}.
			cause(Certain, s.ended(), "no attempt to connect has failed before it")
	}
	m := meaning{"not_connected", "The client had no connection to its server: it had been lost, and was not there again.",
		"the client connects again by itself; WaitForReady lets a call wait"}
	if last.Reason != connstate.OpenFailed.String() && last.Attempt == 0 {
		return m.cause(Certain, s.ended(), v.record(last))
	}
	m.text = "The client had no connection to its server: the last attempt to connect had failed."
	why := connecting(c.Client.Err, "")
	if why.ID == unknownFailure {
		why.ID, why.Text, why.Do = m.id, m.text, m.do
	} else {
		why.Text = strings.TrimSuffix(m.text, ".") + ". " + why.Text
	}
	why.Evidence = append(why.Evidence, s.ended(), v.record(last))
	return why
}

// backoff reports whether an entry is the beginning of a time without a connection.
func backoff(e *telemetry.FlightEntry) bool {
	return e.Kind == kindTransition && e.To == connstate.Backoff.String()
}
