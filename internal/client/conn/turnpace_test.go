package conn

import (
	"testing"
	"time"
)

func TestTurnIsLentAfterQuickAnswersToLoneCaller(t *testing.T) {
	type answer struct {
		after time.Duration // time since the previous answer
		alone bool
	}
	quick, slow, crowded := answer{time.Microsecond, true}, answer{200 * time.Microsecond, true}, answer{time.Microsecond,
		false}
	for _, tt := range []struct {
		name    string
		answers []answer
		due     bool
	}{
		{"none", nil, false},
		{"the first is soon after none", []answer{slow, quick, quick}, false},
		{"three in a row", []answer{slow, quick, quick, quick}, true},
		{"a slow one among them", []answer{quick, quick, slow, quick, quick}, false},
		{"another in flight", []answer{quick, quick, crowded, quick, quick}, false},
		{"three in a row behind", []answer{slow, crowded, quick, quick, quick}, true},
		{"a slow one behind", []answer{quick, quick, quick, quick, slow}, false},
	} {
		turn := turn{pace: &pace{soon: 200 * time.Microsecond, Enough: 3}}
		now := time.Now()
		for _, a := range tt.answers {
			now = now.Add(a.after)
			turn.answered(now, a.alone)
		}
		if turn.due() != tt.due {
			t.Errorf("%s: due %v, want %v", tt.name, turn.due(), tt.due)
		}
	}
}

func TestTurnIsLentLessOftenAfterUselessLoans(t *testing.T) {
	turn := turn{pace: &pace{soon: time.Second, Enough: 4}}
	now := time.Now()
	due := func() (after int) {
		for !turn.due() {
			turn.answered(now, true)
			after++
		}
		return after
	}
	due()
	for _, want := range []int{8, 12, 20, 36, 68, 132, 260, 516, 1028, 1028} {
		turn.settle(3)
		turn.answered(now, false) // does not shorten the wait
		if got := due(); got != want {
			t.Errorf("the next loan is due after %d answers, want %d", got, want)
		}
	}
	turn.settle(4)
	if got := due(); got != 4 {
		t.Errorf("after a useful loan, the next is due after %d answers, want 4", got)
	}
}
