// Package recordingdiff compares two recordings: the requests, their outcomes and their durations. It implements
// "mcpotel diff". All functions are pure.
package recordingdiff
