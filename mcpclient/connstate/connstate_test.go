package connstate_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"testing"

	"github.com/mcpotel/mcpotel/mcpclient/connstate"
)

// enumerated describes what both closed sets have in common.
type enumerated interface {
	comparable
	fmt.Stringer
	slog.LogValuer
	MarshalText() ([]byte, error)
}

// The words are public: this list changes only by additions.
func TestWordsAreStable(t *testing.T) {
	states := []string{"starting", "initializing", "ready", "backoff", "closing"}
	if got := words(connstate.States()); !slices.Equal(got, states) {
		t.Errorf("state words changed: got %q, want %q", got, states)
	}
	reasons := []string{
		"_OTHER", "transport_up", "open_failed", "refused", "negotiated", "negotiation_failed", "probe_lost",
		"init_timeout", "transport_down", "session_gone", "invalid_streak", "frame_too_large", "delay_elapsed",
		"stop_requested", "transport_closed", "close_timeout", "idle",
	}
	if got := words(connstate.Reasons()); !slices.Equal(got, reasons) {
		t.Errorf("reason words changed: got %q, want %q", got, reasons)
	}
}

func TestAllEncodingsUseSameWord(t *testing.T) {
	sameWord(t, connstate.States())
	sameWord(t, connstate.Reasons())
}

func TestUnlistedValuesPrintAsOther(t *testing.T) {
	if got := connstate.State(len(connstate.States())).String(); got != "_OTHER" {
		t.Errorf("first unlisted state: got %q, want %q", got, "_OTHER")
	}
	if got := connstate.Reason(255).String(); got != "_OTHER" {
		t.Errorf("last reason value: got %q, want %q", got, "_OTHER")
	}
	if got := connstate.Reason(0); got != connstate.ReasonOther {
		t.Errorf("zero reason: got %v, want %v", got, connstate.ReasonOther)
	}
}

func sameWord[E enumerated](t *testing.T, all []E) {
	t.Helper()
	snake := regexp.MustCompile(`^([a-z]+(_[a-z]+)*|_OTHER)$`)
	seen := map[string]E{}
	for _, e := range all {
		w := e.String()
		if !snake.MatchString(w) {
			t.Errorf("%T %q: want lower-case snake_case", e, w)
		}
		if twin, taken := seen[w]; taken {
			t.Errorf("%T: %#v and %#v share the word %q", e, twin, e, w)
		}
		seen[w] = e
		if got := e.LogValue(); !got.Equal(slog.StringValue(w)) {
			t.Errorf("%T in a log: got %v, want %q", e, got, w)
		}
		if got, err := json.Marshal(e); err != nil || string(got) != fmt.Sprintf("%q", w) {
			t.Errorf("%T in JSON: got %s, %v, want %q", e, got, err, w)
		}
	}
}

func words[E fmt.Stringer](all []E) []string {
	var w []string
	for _, e := range all {
		w = append(w, e.String())
	}
	return w
}

func TestWordsRoundTrip(t *testing.T) {
	for _, want := range connstate.States() {
		var got connstate.State
		if err := got.UnmarshalText([]byte(want.String())); err != nil || got != want {
			t.Errorf("%v: got %v, %v", want, got, err)
		}
	}
	for _, want := range connstate.Reasons() {
		var got connstate.Reason
		if err := got.UnmarshalText([]byte(want.String())); err != nil || got != want {
			t.Errorf("%v: got %v, %v", want, got, err)
		}
	}
	if err := new(connstate.State).UnmarshalText([]byte("asleep")); err == nil {
		t.Error("an unknown state word is not an error")
	}
	reason := connstate.ReasonRefused
	if err := reason.UnmarshalText([]byte("bored")); err != nil || reason != connstate.ReasonOther {
		t.Errorf("a reason of a later version: got %v, %v, want ReasonOther", reason, err)
	}
}
