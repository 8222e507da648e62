// Package loopback keeps what a program serves for its own machine from everybody else: [Listen] takes addresses of the
// loopback only, and [Only] refuses requests that name another host, as those of a web page do whose name was made to
// resolve to the loopback (DNS rebinding).
package loopback

import (
	"fmt"
	"net"
	"net/http"

	"github.com/mcpotel/mcpotel/internal/hostname"
)

// Listen listens at "host:port"; "" means a free port of 127.0.0.1.
func Listen(addr string) (*net.TCPListener, error) {
	if addr == "" {
		addr = "127.0.0.1:0"
	}
	tcp, err := net.ResolveTCPAddr("tcp", addr)
	if err != nil {
		return nil, err
	}
	if !hostname.LoopbackAddr(tcp) {
		return nil, fmt.Errorf("%q is not on the loopback", addr)
	}
	return net.ListenTCP("tcp", tcp)
}

// Only serves h to those who come to an address of the loopback and name it so.
func Only(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !cameTo(r) || !hostname.Loopback(hostname.Host(r.Host)) {
			http.Error(w, "served under a name or address of the loopback only", http.StatusMisdirectedRequest)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// cameTo reports whether a request came to an address of the loopback.
func cameTo(r *http.Request) bool {
	to, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return true // it did not come over the network
	}
	return hostname.LoopbackAddr(to)
}
