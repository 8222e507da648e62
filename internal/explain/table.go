package explain

// rule finds one kind of cause.
type rule struct {
	judge func(*view) *Cause // returns nil if the rule does not apply
	// additional marks an observation that is reported beside the cause. Of all other rules, only the first that
	// applies is reported.
	additional bool
}

// rules lists all rules in order of precedence: first rules that need a single record, then rules that combine several
// records, then the fallbacks.
var rules = []rule{
	// a plan of faults injected a fault; the next cause describes the fault's effect
	{judge: injected, additional: true},
	{judge: decided},                   // the policy of a proxy decided
	{judge: attempt},                   // the client could not connect: judge_connect.go
	{judge: notReady},                  // the client had no connection at that moment
	{judge: endedByServer},             // the server recorded the reason for ending the request: judge_server.go
	{judge: stopped},                   // the client was closed
	{judge: loop},                      // loop detection kept the client from sending the call
	{judge: neverSent},                 // the client had no connection to send the call on: judge_unsent.go
	{judge: notReached},                // the server's address could not be reached
	{judge: callerCancelled},           // the caller cancelled the call
	{judge: exited},                    // the server's process ended: judge_connection.go
	{judge: tooLarge},                  // a message over the limit
	{judge: streak},                    // a series of invalid messages
	{judge: sessionGone},               // the server no longer knows the session
	{judge: silent},                    // the server did not answer pings
	{judge: closed},                    // the connection ended
	{judge: status},                    // an HTTP status replaced the answer: judge_answer.go
	{judge: toolTimedOut},              // the server's time limit ended the tool
	{judge: toolError},                 // the tool reported an error
	{judge: panicked},                  // a handler of the server panicked
	{judge: code},                      // the server answered with an error
	{judge: inputMissing},              // the server asked for input and did not get it
	{judge: turnedAway},                // the queue or the server was full
	{judge: unreadable},                // the answer broke the protocol: judge_message.go
	{judge: anotherID},                 // the answer had the id of another request
	{judge: late},                      // the answer came too late: judge_time.go
	{judge: waitsForClient},            // the server waits for the client
	{judge: slow},                      // the server used most of the time
	{judge: answerLost},                // the server answered, but the answer did not arrive
	{judge: unanswered},                // no telemetry of the server
	{judge: taskFailed},                // a task of the trace failed
	{judge: waited},                    // a success after a long wait for the connection
	{judge: duplicate},                 // the server answered twice
	{judge: retried, additional: true}, // the request was sent more than once
	{judge: lostNotices, additional: true},
}

// judge applies the rules to the facts. If only a span has the subject, a cause is at most as certain as that span: see
// atMost.
func judge(v *view) (causes []Cause) {
	found := false
	for _, r := range rules {
		if found && !r.additional {
			continue
		}
		if c := r.judge(v); c != nil {
			if v.subject.peer == nil { // only a span has the subject
				c.Sure = v.atMost(c.Sure, v.subject)
			}
			causes = append(causes, *c)
			found = found || !r.additional
		}
	}
	return causes
}

// meaning is the explanation of one word of a closed set, such as a value of error.type.
type meaning struct{ id, text, do string }

// cause returns the meaning as a cause with evidence.
func (m meaning) cause(sure Sure, evidence ...string) *Cause {
	return &Cause{ID: m.id, Sure: sure, Text: m.text, Evidence: evidence, Do: m.do}
}
