// Package quota divides the limited resources of a server between its clients: places for requests, and memory.
package quota
