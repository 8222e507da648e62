// Package filelock locks a file against other processes that use this package.
package filelock
