package rates

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/internal/server/quota"
)

func TestNumberOfTrackedAccountsIsLimited(t *testing.T) {
	var limits Limits
	for i := range limits {
		limits[i] = Rate{PerSecond: -1}
	}
	limits[ToolCalls] = Rate{1, 1}
	who := func(i int) quota.Account { return quota.Account{Name: fmt.Sprint(i), From: netip.Addr{}} }
	var all Books
	now := time.Unix(1_000_000, 0)
	for i := range maxBooks {
		all.Of(who(i), &limits, now)
	}
	all.Of(who(7), &limits, now).Allow(ToolCalls, &limits, now)
	for i := range 10 {
		all.Of(who(-1-i), &limits, now)
	}
	if len(all.books) != 11 || all.Of(who(7), &limits, now).Allow(ToolCalls, &limits, now) {
		t.Errorf("%d books are kept, want 11: the account that has used its rate, and 10 new ones", len(all.books))
	}
	for i := range maxBooks + 10 { // all accounts have used tokens
		all.Of(who(i), &limits, now).Allow(ToolCalls, &limits, now)
	}
	if len(all.books) > maxBooks {
		t.Errorf("%d books are kept, want %d at most", len(all.books), maxBooks)
	}
}
