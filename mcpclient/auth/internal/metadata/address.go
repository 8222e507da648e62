package metadata

import "net/netip"

// kind is the class of an IP address.
type kind string

const (
	public   kind = "public"
	loopback kind = "loopback"
	private  kind = "private"
	// link-local, multicast, unspecified, reserved, or an encoding of another address
	special kind = "special-purpose"
)

// kinds lists the address ranges of the IANA special-purpose registries. The first matching row counts.
var kinds = []struct {
	prefix netip.Prefix
	kind   kind
}{
	{netip.MustParsePrefix("127.0.0.0/8"), loopback},
	{netip.MustParsePrefix("10.0.0.0/8"), private},
	{netip.MustParsePrefix("172.16.0.0/12"), private},
	{netip.MustParsePrefix("192.168.0.0/16"), private},
	{netip.MustParsePrefix("100.64.0.0/10"), private},   // shared address space
	{netip.MustParsePrefix("198.18.0.0/15"), private},   // benchmarks
	{netip.MustParsePrefix("0.0.0.0/8"), special},       // this network
	{netip.MustParsePrefix("169.254.0.0/16"), special},  // link-local, cloud metadata services
	{netip.MustParsePrefix("192.0.0.0/24"), special},    // protocol assignments
	{netip.MustParsePrefix("192.0.2.0/24"), special},    // documentation
	{netip.MustParsePrefix("192.88.99.0/24"), special},  // 6to4 relays
	{netip.MustParsePrefix("198.51.100.0/24"), special}, // documentation
	{netip.MustParsePrefix("203.0.113.0/24"), special},  // documentation
	{netip.MustParsePrefix("224.0.0.0/3"), special},     // multicast, reserved, broadcast

	{netip.MustParsePrefix("::1/128"), loopback},
	{netip.MustParsePrefix("fc00::/7"), private},      // unique local
	{netip.MustParsePrefix("2001::/23"), special},     // protocol assignments, Teredo
	{netip.MustParsePrefix("2001:db8::/32"), special}, // documentation
	{netip.MustParsePrefix("2002::/16"), special},     // 6to4
	{netip.MustParsePrefix("3fff::/20"), special},     // documentation
	{netip.MustParsePrefix("2000::/3"), public},
	// link-local, multicast, unspecified, IPv4-mapped and unassigned
	{netip.MustParsePrefix("::/0"), special},
}

// nat64 is the prefix under which networks without IPv4 reach public IPv4 addresses (RFC 6052).
var nat64 = netip.MustParsePrefix("64:ff9b::/96")

// classify returns the kind of an address. For an address behind NAT64, it classifies the embedded IPv4 address.
func classify(ip netip.Addr) kind {
	ip = ip.WithZone("")
	if nat64.Contains(ip) {
		b := ip.As16()
		if classify(netip.AddrFrom4([4]byte(b[12:]))) != public {
			return special
		}
		return public
	}
	for _, k := range kinds {
		if k.prefix.Contains(ip) {
			return k.kind
		}
	}
	return public
}
