package mcpserver

import "net/netip"

// account is on whose account a client takes what there is only so much of. The zero account is that of clients which
// cannot be told apart: it has no share, and takes what there is.
type account struct {
	name string     // of a principal, or what [HTTPOptions.Account] says
	from netip.Addr // where requests come from; of IPv6, the network
}

// shares counts what is taken of something that there is only so much of, and says who may take more. An account may
// have as much as is left for all others: one alone gets half of what there is, two a third each, and so on. So there
// is something left for one that comes new, however long the others keep what they have. It is guarded by the mutex of
// its owner.
type shares struct {
	limit int
	used  int
	held  map[account]int // of accounts that hold something
}

func newShares(limit int) shares { return shares{limit: limit, held: map[account]int{}} }

// free returns how much is left.
func (s *shares) free() int { return s.limit - s.used }

// affords reports whether there is so much for an account. One that holds nothing may have all there is.
func (s *shares) affords(who account, n int) bool { return s.affordsWithout(who, n, 0) }

// affordsWithout is affords for an account that gives so much back first.
func (s *shares) affordsWithout(who account, n, back int) bool {
	left := s.free() + back
	return n <= left && s.fair(who, n, back, left)
}

// fair reports whether an account gets no more than its share by taking n and giving so much back, where so much is
// left then.
func (s *shares) fair(who account, n, back, left int) bool {
	if who == (account{}) {
		return true
	}
	held := s.held[who] - back
	return held == 0 || held+n <= left
}

// take takes so much for an account, whether it is there or not.
func (s *shares) take(who account, n int) {
	s.used += n
	if who != (account{}) {
		s.held[who] += n
	}
}

// give gives it back.
func (s *shares) give(who account, n int) {
	s.used -= n
	if who == (account{}) {
		return
	}
	if left := s.held[who] - n; left > 0 {
		s.held[who] = left
	} else {
		delete(s.held, who)
	}
}
