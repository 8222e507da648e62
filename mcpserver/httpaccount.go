package mcpserver

import (
	"net/http"
	"net/netip"
	"time"

	"github.com/mcpotel/mcpotel/internal/hostname"
	"github.com/mcpotel/mcpotel/internal/server/quota"
	"github.com/mcpotel/mcpotel/internal/server/rpc"
)

// account returns on whose account a request goes.
func (h *HTTPHandler) account(r *http.Request) quota.Account {
	if h.cfg.Account != nil {
		return quota.Account{Name: h.cfg.Account(r)}
	}
	if who := h.cfg.Principal(r); who != "" {
		return quota.Account{Name: who}
	}
	return quota.Account{From: network(r.RemoteAddr)}
}

// recognize makes p the client behind a principal and an account.
func (h *HTTPHandler) recognize(p *peer, o rpc.Observer, principal string, who quota.Account) {
	p.Observer, p.principal, p.who, p.watching = o, principal, who, h.watching
	p.Untrusted, p.rates = h.cfg.distrusts(principal), h.ratesOf(who)
}

// ratesOf returns what an account has used of its rates, nil for none.
func (h *HTTPHandler) ratesOf(who quota.Account) *rateBook {
	if who == (quota.Account{}) {
		return nil
	}
	return h.rates.of(who, &h.s.cfg.rates, time.Now())
}

// network64 is how much of an IPv6 address says who it is: the rest is chosen by the one who has it. (RFC 4291, section
// 2.5.4)
const network64 = 64

// network returns what of a remote address an account is made of. It is the zero address for what cannot be told apart:
// a Unix socket, and the machine itself, where others may be behind a proxy.
func network(remote string) netip.Addr {
	at, err := netip.ParseAddrPort(remote)
	if err != nil {
		return netip.Addr{}
	}
	addr := at.Addr().Unmap().WithZone("")
	switch {
	case hostname.LoopbackIP(addr):
		return netip.Addr{}
	case addr.Is6():
		prefix, _ := addr.Prefix(network64) // shorter than any address
		return prefix.Addr()
	}
	return addr
}
