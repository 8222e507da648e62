package best_test

import (
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/internal/testsupport/best"
)

func TestBestOfNeedsOneQuickTry(t *testing.T) {
	const limit = 2
	for _, tt := range []struct {
		quick, tries int
		want         time.Duration
	}{{1, 1, limit}, {20, 20, limit}, {21, 20, limit + 1}} {
		tries := 0
		got := best.Of(limit, func() time.Duration {
			if tries++; tries == tt.quick {
				return limit
			}
			return limit + 1 + time.Duration(tries%2)
		})
		if got != tt.want || tries != tt.tries {
			t.Errorf("try %d is quick: got %v of %d tries, want %v of %d", tt.quick, got, tries, tt.want, tt.tries)
		}
	}
}
