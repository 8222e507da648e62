// Package loopback serves HTTP to programs on the same machine only. [Listen] accepts only loopback addresses. [Only]
// refuses requests that a proxy has forwarded, and requests that name another host: a web page can make its own name
// resolve to the loopback (DNS rebinding).
package loopback

import (
	"fmt"
	"net"
	"net/http"
	"strings"

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
		return nil, fmt.Errorf("%q is not a loopback address; use 127.0.0.1, for example", addr)
	}
	return net.ListenTCP("tcp", tcp)
}

// Only returns a handler that passes a request to h if it arrived at a loopback address and its Host is on the
// loopback. It refuses requests that a proxy has forwarded, because they may come from another machine.
func Only(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case !cameTo(r) || !hostname.Loopback(hostname.Host(r.Host)):
			http.Error(w, "the Host of a request must be a loopback name or address, such as localhost",
				http.StatusMisdirectedRequest)
		case forwarded(r.Header):
			http.Error(w, "requests through a proxy are refused; connect directly from this machine", http.StatusForbidden)
		default:
			h.ServeHTTP(w, r)
		}
	})
}

// forwarded reports whether a proxy has forwarded a request: by the headers of RFC 7239 and RFC 9110, section 7.6.3, or
// by headers that proxies set without an RFC.
func forwarded(h http.Header) bool {
	for name := range h {
		switch name {
		case "Forwarded", "Via", "X-Real-Ip", "X-Client-Ip", "X-Cluster-Client-Ip", "X-Original-Host", "X-Original-Url",
			"X-Envoy-External-Address", "True-Client-Ip", "Cf-Connecting-Ip", "Fastly-Client-Ip", "Client-Ip":
			return true
		}
		if strings.HasPrefix(name, "X-Forwarded") {
			return true
		}
	}
	return false
}

// Named serves h, but refuses requests that arrive at a loopback address with another name as Host. Requests to other
// addresses may have any Host: the name of a machine, a pod or a service.
func Named(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if cameTo(r) && !hostname.Loopback(hostname.Host(r.Host)) {
			http.Error(w, "the Host of a request to a loopback address must be a loopback name or address",
				http.StatusMisdirectedRequest)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// cameTo reports whether a request arrived at a loopback address.
func cameTo(r *http.Request) bool {
	to, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return true // the request did not come over the network
	}
	return hostname.LoopbackAddr(to)
}
