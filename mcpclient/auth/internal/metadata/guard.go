package metadata

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"

	"github.com/mcpotel/mcpotel/internal/hostname"
)

// ErrRefused is in the error when the guard did not let a request go out.
var ErrRefused = errors.New("refused")

// guard says what may be asked besides public addresses over https.
type guard struct {
	private  bool // private networks, shared address space and loopback
	loopback bool
}

// url judges what can be seen in a URL. Names are judged by what they stand for, when that is known. A host that
// programs understand in different ways is refused: what is dialled must be what was judged, and net/http makes
// 127.0.0.1 of digits from beyond ASCII, a C library of 127.1. (RFC 3986 §3.2.2; 2026-07-28, Security Best Practices,
// "Server-Side Request Forgery")
func (g guard) url(u *url.URL) error {
	host := u.Hostname()
	switch {
	case u.Host == "" || host == "":
		return refuse("it is no absolute URL with a host")
	case u.User != nil:
		return refuse("it has user information")
	case !hostname.Plain(host):
		return refuse(
			"its host is no address in its usual form and no name of ASCII, for which an international one has xn--")
	case u.Scheme == "http" && !hostname.Loopback(host):
		return refuse("it is not https")
	case u.Scheme != "https" && u.Scheme != "http":
		return refuse("its scheme is not https")
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		return g.address(host, ip)
	}
	if hostname.Loopback(host) && !g.loopback {
		return refuseAddress(host, "loopback")
	}
	return nil
}

// address judges what a host's name stands for.
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
