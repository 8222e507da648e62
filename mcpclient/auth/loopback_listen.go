package auth

import (
	"net"
	"strconv"
)

// listen listens at the same port of all given addresses that the machine has, and returns the port. Port 0 means a
// free port.
func listen(addresses []string, port int) (listeners []net.Listener, at int, err error) {
	for range freePortTries {
		if listeners, at, err = listenOnce(addresses, port); err == nil || port != 0 {
			break
		}
	}
	return listeners, at, err
}

func listenOnce(addresses []string, port int) ([]net.Listener, int, error) {
	var listeners []net.Listener
	for _, a := range addresses {
		l, err := net.Listen("tcp", net.JoinHostPort(a, strconv.Itoa(port)))
		if err != nil && len(listeners) > 0 && !exists(a) {
			continue
		}
		if err != nil {
			closeAll(listeners)
			return nil, 0, err
		}
		listeners = append(listeners, l)
		port = l.Addr().(*net.TCPAddr).Port
	}
	return listeners, port, nil
}

// exists reports whether the machine has an address.
func exists(address string) bool {
	l, err := net.Listen("tcp", net.JoinHostPort(address, "0"))
	if err != nil {
		return false
	}
	_ = l.Close()
	return true
}

func closeAll(listeners []net.Listener) {
	for _, l := range listeners {
		_ = l.Close()
	}
}
