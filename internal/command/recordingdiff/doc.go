// Package recordingdiff says in what two recordings differ: which requests were made, what became of them, and how long
// they took. It is behind "mcpotel diff", and pure.
package recordingdiff
