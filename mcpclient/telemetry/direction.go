package telemetry

import "github.com/mcpotel/mcpotel/internal/instrument/words"

// Direction says which way a message goes, seen from this process.
type Direction uint8

const (
	Sent Direction = iota
	Received
)

// String returns the word that telemetry has for d.
func (d Direction) String() string { return words.Directions[d] }
