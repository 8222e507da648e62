package page

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// Local serves h to this machine's own clients only. It looks at the address a request comes to and at the host it names:
// a page of another site that has its name resolve to the loopback (DNS rebinding) does not get an answer.
func Local(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !isLocal(r) {
			http.Error(w, "served under a name or address of the loopback only", http.StatusMisdirectedRequest)
			return
		}
		h.ServeHTTP(w, r)
	})
}

func isLocal(r *http.Request) bool {
	if to, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr); ok {
		at, err := netip.ParseAddrPort(to.String())
		if err != nil || !at.Addr().Unmap().IsLoopback() {
			return false
		}
	}
	return isLoopback(r.Host)
}

// isLoopback reports whether a Host header names the loopback.
func isLoopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}
