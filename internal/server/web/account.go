package web

import (
	"net/http"
	"net/netip"

	"github.com/mcpotel/mcpotel/internal/hostname"
	"github.com/mcpotel/mcpotel/internal/server/quota"
)

// account returns the account whose limits apply to a request.
func (h *Handler) account(r *http.Request) quota.Account {
	if h.cfg.Account != nil {
		return quota.Account{Name: h.cfg.Account(r)}
	}
	if who := h.cfg.Principal(r); who != "" {
		return quota.Account{Name: who}
	}
	return quota.Account{From: network(r.RemoteAddr)}
}

// client returns the client of a request. who is the account of the request.
func (h *Handler) client(r *http.Request, who quota.Account) Client {
	return Client{Observer: h.observer(r), Principal: h.cfg.Principal(r), Account: who}
}

// network64 is the length of the IPv6 prefix that identifies a client. The client itself chooses the rest of the
// address. (RFC 4291, section 2.5.4)
const network64 = 64

// network returns the address that identifies an account. It is the zero address if the remote address does not
// identify one client: for a Unix socket, and for the loopback, because a proxy there may forward the requests of many
// clients.
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
		prefix, _ := addr.Prefix(network64) // no error: network64 is shorter than an IPv6 address
		return prefix.Addr()
	}
	return addr
}
