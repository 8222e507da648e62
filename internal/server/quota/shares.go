package quota

import "net/netip"

// Account identifies a client when a resource is divided. The zero account stands for all clients that the server
// cannot distinguish: it has no share, and may reserve everything that is left.
type Account struct {
	Name string     // the principal, or the account that the program names
	From netip.Addr // the address of the client; for IPv6, its network
}

// Shares divides a resource between accounts. An account may hold at most as much as stays free after its reservation.
// So one account alone gets half of the resource, two get a third each, and so on. A new account always finds
// something, even if the other accounts release nothing. The mutex of the owner guards a Shares.
type Shares struct {
	Limit int             // total amount of the resource
	Used  int             // reserved amount
	Held  map[Account]int // reserved amount of each account that holds something
}

// NewShares returns the shares of a resource of the amount limit.
func NewShares(limit int) Shares { return Shares{Limit: limit, Held: map[Account]int{}} }

// Free returns the amount that is not reserved.
func (s *Shares) Free() int { return s.Limit - s.Used }

// Affords reports whether the account may reserve n more. An account that holds nothing may reserve everything that is
// left.
func (s *Shares) Affords(who Account, n int) bool { return s.AffordsWithout(who, n, 0) }

// AffordsWithout is like Affords, for an account that first releases some of its amount. released is the amount that it
// releases.
func (s *Shares) AffordsWithout(who Account, n, released int) bool {
	free := s.Free() + released
	return n <= free && s.Fair(who, n, released, free)
}

// Fair reports whether the account stays within its share if it first releases some of its amount, and then reserves n.
// released is the amount that it releases, and free is the amount that is free after the release.
func (s *Shares) Fair(who Account, n, released, free int) bool {
	if who == (Account{}) {
		return true
	}
	held := s.Held[who] - released
	return held == 0 || held+n <= free
}

// Reserve reserves n for the account, even if less than n is left.
func (s *Shares) Reserve(who Account, n int) {
	s.Used += n
	if who != (Account{}) {
		s.Held[who] += n
	}
}

// Release releases n that the account has reserved.
func (s *Shares) Release(who Account, n int) {
	s.Used -= n
	if who == (Account{}) {
		return
	}
	if left := s.Held[who] - n; left > 0 {
		s.Held[who] = left
	} else {
		delete(s.Held, who)
	}
}
