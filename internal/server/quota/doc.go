// Package quota divides what a server has a limited amount of between its clients: places for requests, and memory.
package quota
