package main

import (
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"sync"
	"syscall"
	"time"

	"github.com/mcpotel/mcpotel/internal/loopback"
)

// webFlag is --web, alone or with an address behind an equals sign.
type webFlag struct {
	wanted  bool
	address string // empty for any port
}

func (w *webFlag) flags(f *flag.FlagSet) {
	f.Var(w, "web", "show the traces on a page until interrupted, at a free port, or with --web=`ADDRESS` there, on loopback")
}

func (w *webFlag) String() string   { return w.address }
func (w *webFlag) IsBoolFlag() bool { return true }

func (w *webFlag) Set(s string) error {
	switch w.wanted, w.address = true, ""; s {
	case "true":
	case "false":
		w.wanted = false
	default:
		w.address = s
	}
	return nil
}

// A site serves pages on loopback.
type site struct {
	url    string
	server *http.Server
	serve  sync.WaitGroup
}

func openSite(name, address string, h http.Handler) (*site, error) {
	l, err := loopback.Listen(address)
	if err != nil {
		return nil, taken(name, address, err)
	}
	s := &site{url: "http://" + l.Addr().String() + "/", server: &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}}
	// Ends when close closes the server; close waits for it.
	s.serve.Go(func() { _ = s.server.Serve(l) })
	return s, nil
}

func (s *site) close() {
	s.server.Close()
	s.serve.Wait()
}

// taken says what to do about an address that cannot be had.
func taken(flag, address string, err error) error {
	if errors.Is(err, syscall.EADDRINUSE) {
		host, _, splitErr := net.SplitHostPort(address)
		if splitErr != nil {
			host = "127.0.0.1"
		}
		err = fmt.Errorf("%s is in use by another program; --%s=%s takes a free port", address, flag, net.JoinHostPort(host, "0"))
	}
	return &exitError{exitUsage, fmt.Errorf("--%s: %w", flag, err)}
}
