package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// Over HTTP each call is a request, so the number of earlier requests identifies the call in which the probe clears or
// writes the counters.
func TestProbeMeasuresOneWarmCall(t *testing.T) {
	for _, version := range []mcp.Version{mcp.Version20260728, mcp.Version20251125} {
		var requests atomic.Int64
		var mu sync.Mutex
		var moments []string
		var cleared int64
		p := probe{
			clear: func() error {
				mu.Lock()
				defer mu.Unlock()
				cleared = requests.Load()
				moments = append(moments, "clear")
				return nil
			},
			write: func(dir string) error {
				mu.Lock()
				defer mu.Unlock()
				if calls := requests.Load() - cleared; calls != 1 {
					t.Errorf("%s, %s: want one call between the two moments, got %d", version, dir, calls)
				}
				if cleared <= warm {
					t.Errorf("%s, %s: want %d calls before the probe, got %d", version, dir, warm, cleared)
				}
				moments = append(moments, dir)
				return nil
			},
		}
		s, err := newServer(p)
		if err != nil {
			t.Fatal(err)
		}
		h := s.HTTPHandler(nil)
		web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost {
				requests.Add(1)
			}
			h.ServeHTTP(w, r)
		}))
		if err := travel(t.Context(), &transport.HTTP{URL: web.URL}, version, "out", p); err != nil {
			t.Error(err)
		}
		web.Close()
		var want []string
		for round := range rounds {
			for _, end := range []string{"client", "server"} {
				want = append(want, "clear", filepath.Join("out", end, fmt.Sprint(round+1)))
			}
		}
		if !slices.Equal(moments, want) {
			t.Errorf("%s: want moments %v, got %v", version, want, moments)
		}
	}
}

func TestMissingCountersAreAnError(t *testing.T) {
	s, err := newServer(probe{clear: func() error { return fmt.Errorf("not built for it") }})
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(s.HTTPHandler(nil))
	defer web.Close()
	client := probe{clear: func() error { return nil }, write: func(string) error { return nil }}
	if err := travel(t.Context(), &transport.HTTP{URL: web.URL}, mcp.Version20260728, "out", client); err == nil {
		t.Error("a probe of the server that fails: want an error, got none")
	}
}
