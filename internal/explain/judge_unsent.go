package explain

import (
	"strings"
	"time"

	"github.com/mcpotel/mcpotel/internal/unit"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
)

// unsent reports whether the subject ended before it was sent. The request id and the protocol version depend on a
// connection, so a span without both belongs to a request that was not sent.
func (v *view) unsent() bool {
	s := v.subject
	if s.kind != kindRequest || s.side != clientSide || !s.failed || s.id != "" ||
		s.reason != names.ErrorTimeout && s.reason != names.ErrorCancelled {
		return false
	}
	return v.client() != nil ||
		s.attribute(names.KeyMCPClientInstanceID) != "" && s.attribute(names.KeyMCPProtocolVersion) == ""
}

// whole returns the duration of the subject including the time before it was sent.
func (v *view) whole() time.Duration {
	if s := v.subject.span; s != nil {
		return max(s.End.Sub(s.Start), v.subject.took)
	}
	return v.subject.took
}

// neverSent explains a request that ended while it waited for a connection.
func neverSent(v *view) *Cause {
	s := v.subject
	if !v.unsent() {
		return nil
	}
	text := "The call was never sent: "
	if s.reason == names.ErrorCancelled {
		text += "its caller cancelled it while it "
	} else {
		text += "the call "
	}
	evidence := []string{s.ended(), "the request has no id; the client assigns ids once it has a connection"}
	last := v.lastTransition()
	if last != nil && last.To == connstate.Ready.String() {
		return meaning{"never_sent", "The call was never sent: it timed out before its request could be sent.",
			"raise the limit (WithTimeout, Options.RequestTimeout)"}.cause(Likely, append(evidence, v.record(last))...)
	}
	if text += "waited"; v.whole() > 0 {
		text += " " + unit.Duration(v.whole())
	}
	text += " for a connection to the server, and got no connection."
	if last != nil {
		evidence = append(evidence, v.record(last))
	}
	cause := v.noConnection()
	if cause == nil {
		sure := Likely
		if last != nil || strings.Contains(ownWords(s.message), "not ready") {
			sure = Certain
		}
		return meaning{"never_sent", text, "find the reason in the client's attempts to connect (traces " +
			"mcp_client.connect, " +
			"the debug page); the call can safely be retried"}.cause(sure, evidence...)
	}
	cause.Text = text + " " + cause.Text
	cause.Do += "; the call can safely be retried"
	cause.Evidence = append(cause.Evidence, evidence...)
	return cause
}

// noConnection returns the cause of the missing connection. It reads the client's error texts about the subject, about
// other operations of the trace, and about the client's last attempt. It returns nil if no text explains the missing
// connection.
func (v *view) noConnection() *Cause {
	texts := []string{v.subject.message}
	for _, o := range v.all {
		if o.side == clientSide && o.failed && o.kind != kindHandler {
			texts = append(texts, o.message)
		}
	}
	if c := v.client(); c != nil {
		texts = append(texts, c.Client.GaveUp, c.Client.Err)
	}
	for _, text := range texts {
		if text == "" {
			continue
		}
		if cause := connecting(text, ""); cause.ID != unknownFailure {
			return cause
		}
	}
	return nil
}

// lastTransition returns the client's last transition before the end of the subject, or nil if its recorder has none.
func (v *view) lastTransition() (last *telemetry.FlightEntry) {
	c := v.client()
	if c == nil {
		return nil
	}
	end := v.subject.end()
	if s := v.subject.span; s != nil && s.End.After(end) {
		end = s.End
	}
	for i := range c.Recent {
		if e := &c.Recent[i]; e.Kind == kindTransition && !e.Time.After(end) {
			last = e
		}
	}
	return last
}

// notReached explains a request that failed because the client could not connect to the server's address. Over HTTP,
// each request may open a new connection.
func notReached(v *view) *Cause {
	s := v.subject
	if !v.lost() || s.kind != kindRequest || !strings.Contains(ownWords(s.message), "cannot connect to") {
		return nil
	}
	cause := connecting(s.message, "")
	cause.Text = "The call was never sent: the client could not connect to the server. " + cause.Text
	cause.Do += "; the call can safely be retried"
	cause.Evidence = append(cause.Evidence, s.ended(), "the client's error reports that it cannot connect")
	return cause
}
