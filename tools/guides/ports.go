//go:build unix

package main

import (
	"errors"
	"net"
	"regexp"
	"slices"
)

// address matches an address of this machine with a port of the page.
var address = regexp.MustCompile(`127\.0\.0\.1:\d+`)

// withFreePorts returns the blocks of a page with a free port in each address that matches address, because the page's
// own port may be in use here. Equal addresses get the same port in all blocks. OTLP ports, which pages write as
// localhost:4317, stay: programs choose them by themselves.
func withFreePorts(blocks []block) (_ []block, err error) {
	blocks, free := slices.Clone(blocks), make(map[string]string)
	var listeners []net.Listener // open until the last port is chosen, so that all differ
	defer func() {
		for _, l := range listeners {
			err = errors.Join(err, l.Close())
		}
	}()
	for i := range blocks {
		b := &blocks[i]
		for _, was := range address.FindAllString(b.code+b.prints, -1) {
			if free[was] != "" {
				continue
			}
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				return nil, err
			}
			listeners = append(listeners, l)
			free[was] = l.Addr().String()
		}
		other := func(was string) string { return free[was] }
		b.code, b.prints = address.ReplaceAllStringFunc(b.code, other), address.ReplaceAllStringFunc(b.prints, other)
	}
	return blocks, nil
}
