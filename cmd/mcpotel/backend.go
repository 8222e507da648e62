package main

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/spf13/pflag"

	"github.com/mcpotel/mcpotel/internal/command/backend"
	"github.com/mcpotel/mcpotel/internal/hostname"
)

// headers collects the HTTP header fields of a flag. The fields may hold secrets, so no message quotes them.
type headers struct {
	flag  string
	given []string
}

// flags adds the flag, and a second flag with the suffix -env for values from environment variables.
func (h *headers) flags(f *pflag.FlagSet, flag, to string) {
	h.flag = flag
	f.Func(flag, "add this header, `NAME=VALUE`, to every HTTP request"+to+"; may be repeated", func(s string) error {
		h.given = append(h.given, s)
		return nil
	})
	f.Func(flag+"-env", "add this header, `NAME=VARIABLE`, with the value of the environment variable VARIABLE; "+
		"may be repeated", func(s string) error {
		name, from, _ := strings.Cut(s, "=")
		value, err := variable(from)
		h.given = append(h.given, name+"="+value)
		return err
	})
}

// read parses the header fields. It returns nil if there are no fields.
func (h *headers) read() (all http.Header, _ error) {
	for i, given := range h.given {
		name, value, ok := strings.Cut(given, "=")
		if !ok || !hostname.Token(name) || strings.ContainsAny(value, "\r\n\x00") {
			return nil, misuse("%s %d is not of the form NAME=VALUE", h.flag, i+1)
		}
		if all == nil {
			all = http.Header{}
		}
		all.Add(name, value)
	}
	return all, nil
}

// service holds the flags for a telemetry backend of the user.
type service struct {
	flag    string
	example string // an example of its URL, for error messages
	url     string // empty for none
	headers headers
}

// flags adds the flag for the URL and the flags for headers.
func (s *service) flags(f *pflag.FlagSet, flag, example, usage string) {
	s.flag, s.example = flag, example
	f.StringVar(&s.url, flag, "", usage)
	s.headers.flags(f, flag+"-header", " to "+strings.ToUpper(flag[:1])+flag[1:])
}

// open returns a client for the backend, or nil if the flags name no backend.
func (s *service) open() (*backend.Client, error) {
	header, err := s.headers.read()
	switch {
	case err != nil:
		return nil, err
	case s.url == "" && len(header) > 0:
		return nil, misuse("--%s needs --%s URL", s.headers.flag, s.flag)
	case s.url == "":
		return nil, nil
	}
	at, err := backend.New(s.url, header)
	if err != nil {
		return nil, s.misused(fmt.Errorf("%w; want a URL such as %s", err, s.example))
	}
	return at, nil
}

// misused returns a usage error for the URL.
func (s *service) misused(err error) error { return misuse("--%s: %w", s.flag, err) }

const (
	jaegerExample     = "http://localhost:16686"
	prometheusExample = "http://localhost:9090"
)
