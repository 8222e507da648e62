package mcpserver

import (
	"fmt"
	"math"
	"net/netip"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/internal/server/quota"
)

func TestTheRatesInForce(t *testing.T) {
	for _, test := range []struct {
		given Rates
		what  rated
		want  Rate
	}{
		{Rates{}, rateCompletions, Rate{100, 1000}},
		{Rates{}, rateTasks, Rate{1000, 5000}},
		{Rates{}, rateToolCalls, Rate{-1, 1}},
		{Rates{Completions: Rate{Burst: 3}}, rateCompletions, Rate{100, 3}},
		{Rates{Completions: Rate{PerSecond: 7.5}}, rateCompletions, Rate{7.5, 7}},
		{Rates{Completions: Rate{PerSecond: 0.1}}, rateCompletions, Rate{0.1, 1}},
		{Rates{Completions: Rate{PerSecond: -1}}, rateCompletions, Rate{-1, 1}},
		{Rates{Progress: Rate{2, 4}, Logs: Rate{PerSecond: math.Inf(1)}}, rateProgress, Rate{2, 4}},
	} {
		if all, err := test.given.limits(); err != nil || all[test.what] != test.want {
			t.Errorf("%+v: got %v, %v, want %v", test.given, all[test.what], err, test.want)
		}
	}
	for _, r := range []Rates{{Logs: Rate{PerSecond: math.NaN()}}, {Tasks: Rate{Burst: -1}}} {
		if _, err := r.limits(); err == nil {
			t.Errorf("%+v: got no error", r)
		}
	}
}

func TestBooksOfRatesAreBounded(t *testing.T) {
	limits, err := (&Rates{ToolCalls: Rate{1, 1}}).limits()
	if err != nil {
		t.Fatal(err)
	}
	who := func(i int) quota.Account { return quota.Account{Name: fmt.Sprint(i), From: netip.Addr{}} }
	var all rateBooks
	now := time.Unix(1_000_000, 0)
	for i := range maxRateBooks {
		all.of(who(i), &limits, now)
	}
	all.of(who(7), &limits, now).allow(rateToolCalls, &limits, now)
	for i := range 10 {
		all.of(who(-1-i), &limits, now)
	}
	if len(all.books) != 11 || all.of(who(7), &limits, now).allow(rateToolCalls, &limits, now) {
		t.Errorf("%d books are kept, want that of the account that has used its rate and 10 new ones", len(all.books))
	}
	for i := range maxRateBooks + 10 { // all of them have used theirs
		all.of(who(i), &limits, now).allow(rateToolCalls, &limits, now)
	}
	if len(all.books) > maxRateBooks {
		t.Errorf("%d books are kept, want %d at most", len(all.books), maxRateBooks)
	}
}
