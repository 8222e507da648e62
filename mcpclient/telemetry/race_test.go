//go:build race

package telemetry_test

// With the race detector, pools give their contents away at random.
func init() { raceDetector = true }
