//go:build race

package instrument_test

// With the race detector, pools give their contents away at random.
func init() { raceDetector = true }
