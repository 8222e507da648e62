package explain

// rule is a kind of cause as the table has it.
type rule struct {
	judge func(*view) *Cause // nil if it does not apply
	// an observation beside the cause: it is told whatever else is. Of all other rules, the first that applies counts.
	beside bool
}

// rules are all kinds of causes. Of those that say why something failed, what is known from a single record comes
// first, then what follows from several, then what is left.
var rules = []rule{
	{judge: injected, beside: true}, // a plan of faults did it, and the next cause is what came of that
	{judge: decided},                // the policy of a proxy did it
	{judge: attempt},                // there was no connection to be had: judge_connect.go
	{judge: notReady},               // there was no connection at that moment
	{judge: endedByServer},          // the server says who or what ended the request: judge_server.go
	{judge: stopped},                // this end was stopped
	{judge: loop},                   // the client did not send it
	{judge: neverSent},              // there was no connection to send it on: judge_unsent.go
	{judge: notReached},             // the server's address could not be reached
	{judge: left},                   // the caller left
	{judge: exited},                 // the server's process ended: judge_connection.go
	{judge: tooLarge},               // a message over the limit
	{judge: streak},                 // nothing but garbage
	{judge: sessionGone},            // the server has forgotten the session
	{judge: silent},                 // it did not answer pings
	{judge: closed},                 // the connection ended
	{judge: status},                 // HTTP answered: judge_answer.go
	{judge: toolTimedOut},           // the tool gave up by the server's limit
	{judge: toolError},              // the tool says no
	{judge: panicked},               // a handler of the server panicked
	{judge: code},                   // the server answered with an error
	{judge: inputMissing},           // the server asked for something that it did not get
	{judge: turnedAway},             // no room to send
	{judge: unreadable},             // the answer broke the protocol: judge_message.go
	{judge: anotherID},              // the answer was to another request
	{judge: late},                   // the answer came too late: judge_time.go
	{judge: waitsForClient},         // the server waits for the client
	{judge: slow},                   // the server took the time
	{judge: lostOnTheWay},           // the server has answered, and the answer did not arrive
	{judge: unanswered},             // nothing is known of the server
	{judge: taskFailed},             // a task of the trace
	{judge: waited},                 // successes that took long
	{judge: duplicate},              // the server answered twice
	{judge: again, beside: true},    // it was sent more than once
	{judge: lostNotices, beside: true},
}

// judge has each rule look at the facts. A cause is not more certain than the telemetry of its subject.
func judge(v *view) (causes []Cause) {
	found := false
	for _, r := range rules {
		if found && !r.beside {
			continue
		}
		if c := r.judge(v); c != nil {
			if v.subject.peer == nil { // spans alone tell of it
				c.Sure = v.atMost(c.Sure, v.subject)
			}
			causes = append(causes, *c)
			found = found || !r.beside
		}
	}
	return causes
}

// meaning is what a word of a closed set means for the one who asks.
type meaning struct{ id, text, do string }

// cause makes a cause of it.
func (m meaning) cause(sure Sure, evidence ...string) *Cause {
	return &Cause{ID: m.id, Sure: sure, Text: m.text, Evidence: evidence, Do: m.do}
}
