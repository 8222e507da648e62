package metadata

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"

	"github.com/mcpotel/mcpotel/internal/hostname"
)

// ErrRefused is wrapped by the error for a request that the guard did not send.
var ErrRefused = errors.New("refused")

// guard lists the destinations that are allowed besides public addresses over https.
type guard struct {
	private  bool // allows private networks, shared address space and loopback
	loopback bool
}

// url checks a URL without resolving its host name; address later checks the addresses of the name. The dialled host
// must be the checked host, so url rejects hosts that programs interpret in different ways: net/http accepts 127.0.0.1
// in digits outside ASCII, and a C library accepts 127.1 as 127.0.0.1. (RFC 3986 §3.2.2; 2026-07-28, Security Best
// Practices, "Server-Side Request Forgery")
func (g guard) url(u *url.URL) error {
	host := u.Hostname()
	switch {
	case u.Host == "" || host == "":
		return refuse("not an absolute URL with a host")
	case u.User != nil:
		return refuse("the URL contains user information")
	case !hostname.Plain(host):
		return refuse(
			"the host is neither an address in its usual form nor an ASCII name; write international names with xn--")
	case u.Scheme == "http" && !hostname.Loopback(host):
		return refuse("the URL is not https")
	case u.Scheme != "https" && u.Scheme != "http":
		return refuse("the scheme is not https")
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		return g.address(host, ip)
	}
	if hostname.Loopback(host) && !g.loopback {
		return refuseAddress(host, "loopback")
	}
	return nil
}

// address checks an address of a host.
func (g guard) address(host string, ip netip.Addr) error {
	kind := classify(ip)
	if hostname.Loopback(host) && !hostname.LoopbackIP(ip) {
		return refuse(fmt.Sprintf("%s is not loopback", ip))
	}
	switch kind {
	case public:
		return nil
	case loopback:
		if g.loopback {
			return nil
		}
	case private:
		if g.private {
			return nil
		}
	}
	return refuseAddress(ip.String(), kind)
}

func refuse(why string) error { return fmt.Errorf("%w: %s", ErrRefused, why) }

func refuseAddress(address string, kind kind) error {
	why := fmt.Sprintf("%s is a %s address", address, kind)
	if kind != special {
		why += ", see AllowPrivateAddresses"
	}
	return refuse(why)
}
