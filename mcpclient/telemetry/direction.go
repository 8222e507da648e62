package telemetry

import "github.com/mcpotel/mcpotel/internal/instrument/words"

// Direction is the direction of a message, from the view of this process.
type Direction uint8

const (
	DirectionSent Direction = iota
	DirectionReceived
)

// String returns the value of d in telemetry.
func (d Direction) String() string { return words.Directions[d] }
