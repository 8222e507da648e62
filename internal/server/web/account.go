package web

import (
	"net/http"
	"net/netip"

	"github.com/mcpotel/mcpotel/internal/hostname"
	"github.com/mcpotel/mcpotel/internal/server/quota"
)

// account returns on whose account a request goes.
func (h *Handler) account(r *http.Request) quota.Account {
	if h.cfg.Account != nil {
		return quota.Account{Name: h.cfg.Account(r)}
	}
	if who := h.cfg.Principal(r); who != "" {
		return quota.Account{Name: who}
	}
	return quota.Account{From: network(r.RemoteAddr)}
}

// client returns the client of a request on an account.
func (h *Handler) client(r *http.Request, who quota.Account) Client {
	return Client{Observer: h.observer(r), Principal: h.cfg.Principal(r), Account: who}
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
