package explain

import (
	"fmt"
	"strings"

	"github.com/mcpotel/mcpotel/mcpclient/connstate"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// lost reports whether the subject failed because its connection ended.
func (v *view) lost() bool { return v.subject.failed && v.subject.reason == names.ErrorConnectionLost }

// exited explains a request during which the server's process ended.
func exited(v *view) *Cause {
	e := v.happened(kindExit)
	if e == nil || !v.lost() {
		return nil
	}
	if e.Reason != "" {
		return meaning{"server_killed", "The server's process was killed by " + name(e.Reason) + " during the call.",
			"find out what killed it: SIGKILL often means out of memory, SIGSEGV a crash. The client restarts the process"}.
			cause(Certain, v.subject.ended(), v.record(e))
	}
	return meaning{"server_exited", fmt.Sprintf("The server's process exited with status %d during the call.",
		e.Code), "read its last standard error output in the client's error; the client restarts the process"}.
		cause(Certain, v.subject.ended(), v.record(e))
}

// sessionGone explains a request to an HTTP server that no longer knows the session.
func sessionGone(v *view) *Cause {
	e := v.happened(kindTransition, connstate.ReasonSessionGone.String())
	if e == nil || !v.subject.failed {
		return nil
	}
	return meaning{"session_expired", "The server no longer knows the session: it has expired, or the server was " +
		"restarted.", "call again: the client opens a new session by itself. State of the old session is lost"}.
		cause(Certain, v.subject.ended(), v.record(e))
}

// silent explains a connection that failed because the server did not answer a ping.
func silent(v *view) *Cause {
	if !v.lost() {
		return nil
	}
	for _, p := range v.near {
		if p.Kind == kindRequest && p.Method == "ping" && p.Failed {
			return meaning{"connection_silent", "The server did not answer a ping, so the client closed the connection.",
				"check whether the server runs: it hangs, or the network drops packets without an error"}.
				cause(Likely, v.subject.ended(), v.record(&p))
		}
	}
	return nil
}

// closed explains a connection that ended for an unknown reason.
func closed(v *view) *Cause {
	if !v.lost() {
		return nil
	}
	const do = "read the server's log for that moment; the client reconnects by itself. The server may have executed " +
		"the " +
		"call: retry only if it is idempotent"
	if e := v.entry(backoff); e != nil {
		return meaning{"connection_closed", "The connection ended before the answer: the server or a proxy closed it.",
			do}.cause(Certain, v.subject.ended(), v.record(e))
	}
	if v.subject.peer != nil {
		return meaning{"answer_cut_off", "The answer was cut off. The connection to the server still exists.",
			"check proxies between client and server, which end responses that last too " +
				"long. " + do}.cause(Likely, v.subject.ended(),
			"the client did not record that the connection ended")
	}
	return meaning{"connection_closed", "The connection ended before the answer.", do}.cause(Certain, v.subject.ended())
}

// stopped explains a call that failed because the client was closed.
func stopped(v *view) *Cause {
	s := v.subject
	if s.reason != names.ErrorShutdown {
		return nil
	}
	if c := v.client(); c != nil && c.Client.GaveUp != "" {
		return v.gaveUp(c)
	}
	m := meaning{"client_stopped", "The client had been closed before the call.", "make the call before Close, or " +
		"with a new client"}
	if s.id != "" {
		m = meaning{"client_stopped", "The client was closed while the call was in flight.",
			"wait for calls before you close the client: Shutdown does"}
	}
	return m.cause(Certain, s.ended())
}

// gaveUp explains why a client no longer tries to connect.
func (v *view) gaveUp(c *Peer) *Cause {
	cause := connecting(c.Client.GaveUp, "")
	cause.Text = "The client has given up connecting. " + cause.Text
	cause.Evidence = append(cause.Evidence, v.subject.ended())
	return cause
}

// loop explains a call that loop detection kept from being sent.
func loop(v *view) *Cause {
	if v.subject.reason != names.ErrorLoop {
		return nil
	}
	return meaning{"loop", "The client did not send the call, because the same calls before it returned nothing new " +
		"(loop detection).", "do not repeat the call: use other arguments or another tool, or ask the user"}.
		cause(Certain, v.subject.ended())
}

// callerCancelled explains a call that its caller cancelled.
func callerCancelled(v *view) *Cause {
	if v.subject.reason != names.ErrorCancelled || v.subject.side != clientSide {
		return nil
	}
	return meaning{"caller_left", fmt.Sprintf("The caller itself cancelled the call, %s.", v.elapsed()),
		"telemetry shows no fault of the server: find out why the caller cancelled"}.cause(Certain,
		v.subject.ended())
}

// notReady explains a call that found no connection.
func notReady(v *view) *Cause {
	s := v.subject
	if s.reason != names.ErrorNotReady {
		return nil
	}
	c := v.client()
	if c == nil {
		return meaning{"not_connected", "The client had no connection to its server at that moment.",
			"check the client's attempts to connect; WaitForReady makes a call wait"}.cause(Certain, s.ended())
	}
	var last *telemetry.FlightEntry // the latest entry that explains the missing connection
	for i := range c.Recent {
		if e := &c.Recent[i]; !e.Time.After(s.start) && (backoff(e) || e.Kind == kindAttempt && e.Failed) {
			last = e
		}
	}
	if last == nil {
		return meaning{"connecting", "The client was still connecting to its server.",
			"wait a moment and call again; Client.WaitForReady waits for the connection, " +
				"and the option WaitForReady makes a call wait"}.
			cause(Certain, s.ended(), "no attempt to connect failed before the call")
	}
	m := meaning{"not_connected", "The client had lost its connection to the server, and had not reconnected yet.",
		"the client reconnects by itself; WaitForReady makes a call wait"}
	if last.Reason != connstate.ReasonOpenFailed.String() && last.Attempt == 0 {
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

// backoff reports whether an entry marks the start of a time without a connection.
func backoff(e *telemetry.FlightEntry) bool {
	return e.Kind == kindTransition && e.To == connstate.Backoff.String()
}
