// Package connstate holds the words a client uses for its connection: the five states, the reasons it moves between
// them, and the record of one move.
//
// The words are public and stable. They are what Client.State returns, what a log record and a metric attribute say,
// and what dashboards query; a word is never renamed within a major version. Start at [State].
//
// What may surprise: there is no "closed" state. A client whose connection has ended stays [Closing], and its Done
// channel is closed.
package connstate

import (
	"fmt"
	"log/slog"
	"slices"
)

// other is the word for any value that this version of the package does not list.
const other = "_OTHER"

// State says what the connection is doing. Exactly one state holds at any time.
type State uint8

const (
	// Starting means a connection is being opened.
	Starting State = iota
	// Initializing means the connection is open and era, version and capabilities are being agreed on.
	Initializing
	// Ready means calls are accepted.
	Ready
	// Backoff means there is no connection; the next attempt waits for a delay.
	Backoff
	// Closing means the client was stopped or cannot go on. No state follows.
	Closing
)

var stateWords = [...]string{
	Starting:     "starting",
	Initializing: "initializing",
	Ready:        "ready",
	Backoff:      "backoff",
	Closing:      "closing",
}

// States lists every state in the order of a connection's life.
func States() []State { return list[State](len(stateWords)) }

// String returns the state's stable word, such as "ready", or "_OTHER" for a value that is not listed.
func (s State) String() string { return word(stateWords[:], int(s)) }

// MarshalText returns the word of [State.String]. It never fails.
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the word of [State.String]. It is an error if no state has it.
func (s *State) UnmarshalText(text []byte) error {
	i, err := lookup(stateWords[:], "state", text)
	*s = State(i)
	return err
}

// LogValue makes a log record show the word of [State.String].
func (s State) LogValue() slog.Value { return slog.StringValue(s.String()) }

// lookup returns which of the words text is.
func lookup(words []string, what string, text []byte) (uint8, error) {
	i := slices.Index(words, string(text))
	if i < 0 {
		return 0, fmt.Errorf("connstate: no %s is called %.40q", what, text)
	}
	return uint8(i), nil
}

func word(words []string, i int) string {
	if i >= len(words) {
		return other
	}
	return words[i]
}

func list[T ~uint8](n int) []T {
	all := make([]T, n)
	for i := range all {
		all[i] = T(i)
	}
	return all
}
