//go:build !race

package heap

// Raced is true in a program that is built with the race detector, which allocates for itself.
const Raced = false
