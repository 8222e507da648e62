package metadata

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
)

// ErrRefused is in the error when the guard did not let a request go out.
var ErrRefused = errors.New("refused")

// guard says what may be asked besides public addresses over https.
type guard struct {
	private  bool // private networks, shared address space and loopback
	loopback bool
}

// url judges what can be seen in a URL. Names are judged by what they stand for, when that is known.
func (g guard) url(u *url.URL) error {
	host := u.Hostname()
	switch {
	case u.Host == "" || host == "":
		return refuse("it is no absolute URL with a host")
	case u.User != nil:
		return refuse("it has user information")
	case u.Scheme == "http" && !isLoopback(host):
		return refuse("it is not https")
	case u.Scheme != "https" && u.Scheme != "http":
		return refuse("its scheme is not https")
	}
	if ip, err := netip.ParseAddr(host); err == nil {
		return g.address(host, ip)
	}
	if isLoopback(host) && !g.loopback {
		return refuseAddress(host, "loopback")
	}
	return nil
}

// address judges what a host's name stands for.
func (g guard) address(host string, ip netip.Addr) error {
	kind := classify(ip)
	if isLoopback(host) && kind != loopback {
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

// isLoopback reports whether a host of a URL is loopback without having to be looked up.
func isLoopback(host string) bool {
	if ip, err := netip.ParseAddr(host); err == nil {
		return classify(ip) == loopback
	}
	name := strings.ToLower(strings.TrimSuffix(host, "."))
	return name == "localhost" || strings.HasSuffix(name, ".localhost")
}

func refuse(why string) error { return fmt.Errorf("%w: %s", ErrRefused, why) }

func refuseAddress(address string, kind kind) error {
	why := fmt.Sprintf("%s is a %s address", address, kind)
	if kind != special {
		why += ", see AllowPrivateAddresses"
	}
	return refuse(why)
}
