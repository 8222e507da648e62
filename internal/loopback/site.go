package loopback

import (
	"net/http"
	"sync"
	"time"
)

// Site serves pages from Serve to Close.
type Site struct {
	URL string // with a slash at the end

	server *http.Server
	serve  sync.WaitGroup
}

// Serve serves h at an address for [Listen].
func Serve(address string, h http.Handler) (*Site, error) {
	l, err := Listen(address)
	if err != nil {
		return nil, err
	}
	s := &Site{URL: "http://" + l.Addr().String() + "/",
		server: &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}}
	s.serve.Go(func() { _ = s.server.Serve(l) }) // ends when Close closes the server
	return s, nil
}

// Close ends the site at once, even while browsers read.
func (s *Site) Close() {
	s.server.Close()
	s.serve.Wait()
}
