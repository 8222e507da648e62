// Package best measures short operations on a machine that may be busy: the best of several tries shows the time that
// an operation needs.
package best

import "time"

// tries is the maximum number of tries. On a busy machine some tries take long, but not all.
const tries = 20

// Of calls try until a try takes no longer than limit, at most 20 times, and returns the shortest time. An operation
// that is always too slow still exceeds the limit.
func Of(limit time.Duration, try func() time.Duration) time.Duration {
	shortest := try()
	for range tries - 1 {
		if shortest <= limit {
			break
		}
		shortest = min(shortest, try())
	}
	return shortest
}
