package machine

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// The life of a client, for human readers: the time, the event, and the machine's reaction. A number after an event is
// an epoch other than the machine's.
func TestTranscriptOfClientLifetime(t *testing.T) {
	const script = `
		0ms     UserCall
		200ms   OpenFailed
		1.199s  Elapsed
		1.2s    Elapsed
		1.2s    OpenFailed 1
		1.5s    TransportUp
		1.6s    Notification
		1.7s    ProbeLost
		1.8s    TransportUp
		2s      Negotiated
		3s      UserCall
		3s      SendBusy
		4s      ResponseInFlight
		5s      CallTimeout
		6s      ResponseLate
		7s      FrameInvalid
		1m      SessionGone
		1m1s    Negotiated
		2m      SessionGone
		2m1s    Elapsed
		2m2s    TransportUp
		2m12s   Elapsed
		2m14s   Elapsed
		2m15s   TransportUp
		2m16s   FrameTooLarge
		2m20s   Elapsed
		2m21s   TransportUp
		2m22s   Negotiated
		3m      TransportDown
		3m1s    Stop
		3m1s    UserCall
		3m1s    Stop
		3m1.1s  Elapsed
		3m2s    TransportClosed
		3m2s    UserCall
		3m2s    Stop`
	const want = `
0s         start                starting, epoch 1, attempt 1, session 0, due in 10s: Dial
0s         UserCall             RefuseOrWait
200ms      OpenFailed           backoff (open_failed), epoch 1, attempt 1, session 0, due in 1s: HangUp
1.199s     Elapsed              means nothing
1.2s       Elapsed              starting (delay_elapsed), epoch 2, attempt 2, session 0, due in 10s: Dial
1.2s       OpenFailed 1         means nothing
1.5s       TransportUp          initializing (transport_up), epoch 2, attempt 2, session 0, due in 10s: Negotiate, Pull
1.6s       Notification         Drop, Pull
1.7s       ProbeLost            starting (probe_lost), epoch 3, attempt 2, session 0, due in 10s: HangUp, Dial
1.8s       TransportUp          initializing (transport_up), epoch 3, attempt 2, session 0, due in 10s: Negotiate, Pull
2s         Negotiated           ready (negotiated), epoch 3, attempt 2, session 1: StoreSession, Pull, Resubscribe, ReleaseWaiters
3s         UserCall             Admit
3s         SendBusy             RetrySend
4s         ResponseInFlight     ready (negotiated), epoch 3, attempt 2, session 1: Deliver, Pull
5s         CallTimeout          Abandon, CancelUpstream, ReplyTimeout
6s         ResponseLate         Drop, Pull
7s         FrameInvalid         ReportViolation, Drop, FailOwn, Pull
1m0s       SessionGone          initializing (session_gone), epoch 4, attempt 1, session 1, due in 10s: FailLost, Negotiate, Pull
1m1s       Negotiated           ready (negotiated), epoch 4, attempt 1, session 2: StoreSession, Pull, Resubscribe, ReleaseWaiters
2m0s       SessionGone          backoff (session_gone), epoch 4, attempt 0, session 2, due in 1s: FailLost, HangUp
2m1s       Elapsed              starting (delay_elapsed), epoch 5, attempt 1, session 2, due in 10s: Dial
2m2s       TransportUp          initializing (transport_up), epoch 5, attempt 1, session 2, due in 10s: Negotiate, Pull
2m12s      Elapsed              backoff (init_timeout), epoch 5, attempt 1, session 2, due in 2s: HangUp
2m14s      Elapsed              starting (delay_elapsed), epoch 6, attempt 2, session 2, due in 10s: Dial
2m15s      TransportUp          initializing (transport_up), epoch 6, attempt 2, session 2, due in 10s: Negotiate, Pull
2m16s      FrameTooLarge        backoff (frame_too_large), epoch 6, attempt 2, session 2, due in 4s: ReportViolation, HangUp, FailProtocol
2m20s      Elapsed              starting (delay_elapsed), epoch 7, attempt 3, session 2, due in 10s: Dial
2m21s      TransportUp          initializing (transport_up), epoch 7, attempt 3, session 2, due in 10s: Negotiate, Pull
2m22s      Negotiated           ready (negotiated), epoch 7, attempt 3, session 3: StoreSession, Pull, Resubscribe, ReleaseWaiters
3m0s       TransportDown        backoff (transport_down), epoch 7, attempt 0, session 3, due in 1s: FailLost, HangUp
3m1s       Stop                 closing (stop_requested), epoch 7, attempt 0, session 3, due in 100ms: FailShutdown, HangUp
3m1s       UserCall             RefuseShutdown
3m1s       Stop                 –
3m1.1s     Elapsed              ended (close_timeout), epoch 7, attempt 0, session 3: End
3m2s       TransportClosed      means nothing
3m2s       UserCall             RefuseShutdown
3m2s       Stop                 –`
	if diff := cmp.Diff(strings.TrimSpace(want), play(t, Defaults(), script)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// A client that was never ready makes the allowed number of attempts, for whatever reasons they fail, and reports why
// it gives up. It also reports the server's violations.
func TestClientGivesUpAfterItsInitialAttempts(t *testing.T) {
	p := Defaults()
	p.InitialAttempts = 3
	const script = `
		1s   OpenFailed
		2s   Elapsed
		3s   TransportUp
		4s   ProbeLost
		5s   TransportUp
		15s  Elapsed
		17s  Elapsed
		18s  TransportUp
		19s  FrameTooLarge
		19s  TransportClosed`
	const want = `
0s         start                starting, epoch 1, attempt 1, session 0, due in 10s: Dial
1s         OpenFailed           backoff (open_failed), epoch 1, attempt 1, session 0, due in 1s: HangUp
2s         Elapsed              starting (delay_elapsed), epoch 2, attempt 2, session 0, due in 10s: Dial
3s         TransportUp          initializing (transport_up), epoch 2, attempt 2, session 0, due in 10s: Negotiate, Pull
4s         ProbeLost            starting (probe_lost), epoch 3, attempt 2, session 0, due in 10s: HangUp, Dial
5s         TransportUp          initializing (transport_up), epoch 3, attempt 2, session 0, due in 10s: Negotiate, Pull
15s        Elapsed              backoff (init_timeout), epoch 3, attempt 2, session 0, due in 2s: HangUp
17s        Elapsed              starting (delay_elapsed), epoch 4, attempt 3, session 0, due in 10s: Dial
18s        TransportUp          initializing (transport_up), epoch 4, attempt 3, session 0, due in 10s: Negotiate, Pull
19s        FrameTooLarge        closing (refused), epoch 4, attempt 3, session 0, due in 100ms: ReportViolation, HangUp, FailProtocol, ReportCause
19s        TransportClosed      ended (transport_closed), epoch 4, attempt 3, session 0: End`
	if diff := cmp.Diff(strings.TrimSpace(want), play(t, p, script)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestAnyFailureOfLastAttemptEndsClient(t *testing.T) {
	p := Defaults()
	p.InitialAttempts = 1
	for _, c := range []struct{ script, want string }{
		{"1s OpenFailed", "HangUp, ReportCause"},
		{"10s Elapsed", "HangUp, ReportCause"},
		{"1s TransportUp\n11s Elapsed", "HangUp, ReportCause"},
		{"1s TransportUp\n2s NegotiationFailed", "HangUp, ReportCause"},
		{"1s TransportUp\n2s TransportDown", "HangUp, ReportCause"},
		{"1s TransportUp\n2s SessionGone", "HangUp, ReportCause"},
		{"1s TransportUp\n2s InvalidStreak", "ReportViolation, HangUp, FailProtocol, ReportCause"},
		{"1s TransportUp\n2s FrameTooLarge", "ReportViolation, HangUp, FailProtocol, ReportCause"},
		{"1s TransportUp\n2s ProbeLost\n3s TransportUp\n4s ProbeLost", "HangUp, ReportCause"},
	} {
		lines := strings.Split(play(t, p, c.script), "\n")
		last := lines[len(lines)-1]
		if !strings.Contains(last, "closing (refused)") || !strings.HasSuffix(last, ": "+c.want) {
			t.Errorf("%q: got %q, want closing (refused) and %s", c.script, last, c.want)
		}
	}
}

func TestClientThatWasReadyNeverGivesUp(t *testing.T) {
	p := Defaults()
	p.InitialAttempts = 1
	got := play(t, p, "1s TransportUp\n2s Negotiated\n3s TransportDown\n4s Elapsed\n5s OpenFailed\n6s Elapsed\n7s "+
		"OpenFailed")
	if strings.Contains(got, "closing") {
		t.Errorf("got\n%s\nwant no closing", got)
	}
}

// If a server dies after each handshake, the backoff grows, even if the server answers requests that the client itself
// makes. An answer to a user's call, or a session that lasts for BackoffMax, resets the backoff. A session that ends 1
// ms earlier does not reset it.
func TestHandshakeDoesNotResetBackoff(t *testing.T) {
	p := Defaults()
	p.BackoffMax = 8 * time.Second
	for _, c := range []struct {
		name, session string
		want          []string // delays after four sessions
	}{
		{"dies at once", "0s TransportUp, 0s Negotiated, 0s TransportDown", []string{"1s", "2s", "4s", "8s"}},
		{"restores", "0s TransportUp, 0s Negotiated, 0s ResponseOwn, 0s TransportDown", []string{"1s", "2s", "4s", "8s"}},
		{"nearly lasts", "0s TransportUp, 0s Negotiated, 7.999s TransportDown", []string{"1s", "2s", "4s", "8s"}},
		{"lasts", "0s TransportUp, 0s Negotiated, 8s TransportDown", []string{"1s", "1s", "1s", "1s"}},
		{"answers", "0s TransportUp, 0s Negotiated, 0s ResponseInFlight, 0s TransportDown", []string{"1s", "1s", "1s", "1s"}},
		{"loses its session", "0s TransportUp, 0s Negotiated, 0s SessionGone, 0s Negotiated, 0s SessionGone",
			[]string{"1s", "2s", "4s", "8s"}},
		{"breaks the protocol", "0s TransportUp, 0s Negotiated, 0s InvalidStreak", []string{"1s", "2s", "4s", "8s"}},
	} {
		var got []string
		m, _ := p.Start(noon)
		for range c.want {
			begun := m.Since
			for step := range strings.SplitSeq(c.session, ", ") {
				words := strings.Fields(step)
				after, _ := time.ParseDuration(words[0])
				m, _, _ = p.Step(m, Input{Event: eventNamed(t, words[1]), Epoch: m.Epoch, Now: begun.Add(after), Jitter: 0.5})
			}
			got = append(got, m.Deadline.Sub(m.Since).String())
			m, _, _ = p.Step(m, Input{Event: Elapsed, Now: m.Deadline})
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: delays (-want +got):\n%s", c.name, diff)
		}
	}
}

// play steps a machine through the script's lines, "time event [epoch]", and returns a transcript. The jitter is always
// 0.5.
func play(t *testing.T, p Policy, script string) string {
	t.Helper()
	m, effects := p.Start(noon)
	lines := []string{line(0, "start", Machine{Ended: true}, m, effects, true)}
	for text := range strings.Lines(strings.TrimSpace(script)) {
		words := strings.Fields(text)
		after, err := time.ParseDuration(words[0])
		if err != nil {
			t.Fatal(err)
		}
		in := Input{Event: eventNamed(t, words[1]), Now: noon.Add(after), Jitter: 0.5}
		if in.Event.ofConnection() {
			in.Epoch = m.Epoch
		}
		if len(words) > 2 {
			fmt.Sscan(words[2], &in.Epoch)
		}
		next, effects, ok := p.Step(m, in)
		lines = append(lines, line(after, strings.Join(words[1:], " "), m, next, effects, ok))
		m = next
	}
	return strings.Join(lines, "\n")
}

func line(after time.Duration, what string, m, next Machine, effects []Effect, ok bool) string {
	head := fmt.Sprintf("%-10v %-20s ", after, what)
	switch {
	case !ok:
		return head + "means nothing"
	case m == next:
		return head + doWords(effects)
	}
	state := next.State.String()
	if next.Ended {
		state = "ended"
	}
	if !m.Ended {
		state += fmt.Sprintf(" (%v)", next.Reason)
	}
	due := ""
	if !next.Deadline.IsZero() {
		due = fmt.Sprintf(", due in %v", next.Deadline.Sub(next.Since))
	}
	return fmt.Sprintf("%s%s, epoch %d, attempt %d, session %d%s: %s",
		head, state, next.Epoch, next.Attempt, next.Session, due, doWords(effects))
}

func eventNamed(t *testing.T, name string) Event {
	t.Helper()
	for e := range eventCount {
		if e.String() == name {
			return e
		}
	}
	t.Fatalf("no event is named %q", name)
	return 0
}
