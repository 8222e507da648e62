// Package benchmarks measures whole paths, from a call of the user's to its result, where the packages measure their parts.
package benchmarks
