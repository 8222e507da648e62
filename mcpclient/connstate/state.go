// Package connstate defines the vocabulary for a client's connection: the five states, the reasons for moving between
// them, and the record of one move.
//
// The strings are public and stable. Log records and metric attributes contain them, and dashboards query them. No
// string is renamed within a major version. Start with [State].
//
// A possible surprise: there is no "closed" state. A client whose connection has ended stays in [Closing], and its Done
// channel is closed.
package connstate

import (
	"fmt"
	"log/slog"
	"slices"
)

// other is the string for any value that this version of the package does not list.
const other = "_OTHER"

// State is the state of a connection. Exactly one state holds at any time.
type State uint8

const (
	// Starting means that the client is opening a connection.
	Starting State = iota
	// Initializing means that the connection is open, and client and server are negotiating era, version and capabilities.
	Initializing
	// Ready means that the client accepts calls.
	Ready
	// Backoff means that there is no connection, and the client waits before its next attempt to connect.
	Backoff
	// Closing means that the client was closed or has given up. No state follows.
	Closing
)

var stateWords = [...]string{
	Starting:     "starting",
	Initializing: "initializing",
	Ready:        "ready",
	Backoff:      "backoff",
	Closing:      "closing",
}

// States returns all states in the order of a connection's life.
func States() []State { return list[State](len(stateWords)) }

// String returns the state's stable string, such as "ready", or "_OTHER" for a value that is not listed.
func (s State) String() string { return word(stateWords[:], int(s)) }

// MarshalText returns the result of [State.String]. It never fails.
func (s State) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText parses the result of [State.String]. It returns an error for an unknown string.
func (s *State) UnmarshalText(text []byte) error {
	i, err := lookup(stateWords[:], "state", text)
	*s = State(i)
	return err
}

// LogValue makes a log record show the result of [State.String].
func (s State) LogValue() slog.Value { return slog.StringValue(s.String()) }

// lookup returns the index of text in words, or an error.
func lookup(words []string, what string, text []byte) (uint8, error) {
	i := slices.Index(words, string(text))
	if i < 0 {
		return 0, fmt.Errorf("connstate: unknown %s %.40q", what, text)
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
