//go:build !race

package heap

// Raced is true in a program built with the race detector, which allocates memory itself.
const Raced = false
