package main

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

func TestTerminalShowsTheStartingServer(t *testing.T) {
	for terminal, want := range map[bool]string{
		true: "waiting for npx server to start, 2 s" +
			"\r\x1b[Kwaiting for npx server to start, 3 s; it says: added 12\ufffd[31m packages" +
			"\r\x1b[Kwaiting for npx server to start, 4 s; it says: added 12\ufffd[31m packages" +
			"\r\x1b[K",
		false: "",
	} {
		synctest.Test(t, func(t *testing.T) {
			var b bytes.Buffer
			c := newConsole(streams{strings.NewReader(""), io.Discard, &b, terminal})
			c.terminal = terminal
			m := mcpclient.Member{Name: "npx server", Transport: transport.Stdio{Command: "npx"}}
			w := c.waitFor(&m)
			time.Sleep(2500 * time.Millisecond)
			if hear := m.Transport.(transport.Stdio).Stderr; terminal {
				hear("added 12\x1b[31m packages")
			} else if hear != nil {
				t.Error("without a terminal, a handler for standard error is set")
			}
			time.Sleep(2 * time.Second)
			w.end()
			if got := b.String(); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func TestQuickServerShowsNoWaitingLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b bytes.Buffer
		c := newConsole(streams{strings.NewReader(""), io.Discard, &b, true})
		c.terminal = true
		w := c.waitFor(&mcpclient.Member{Name: "quick", Transport: transport.Stdio{Command: "quick"}})
		time.Sleep(time.Second)
		w.end()
		if b.Len() > 0 {
			t.Errorf("got %q, want nothing", b.String())
		}
	})
}

func TestWaitingLineShowsOnlyStartingServers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b bytes.Buffer
		c := newConsole(streams{strings.NewReader(""), io.Discard, &b, true})
		c.terminal = true
		one := mcpclient.Member{Name: "one", Transport: transport.Stdio{Command: "npx"}}
		two := mcpclient.Member{Name: "two", Transport: transport.Stdio{Command: "uvx"}}
		w := c.waitFor(&one, &two)
		two.Transport.(transport.Stdio).Stderr("installing")
		time.Sleep(2500 * time.Millisecond)
		w.started("one")
		time.Sleep(time.Second)
		w.started("two")
		time.Sleep(time.Minute)
		w.end()
		const want = "waiting for one, two to start, 2 s; two says: installing" +
			"\r\x1b[Kwaiting for two to start, 3 s; it says: installing\r\x1b[K"
		if got := b.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

func TestStatusLineFitsTheTerminal(t *testing.T) {
	for _, tc := range []struct {
		line    string
		columns int
		want    string
	}{
		{"waiting", 8, "waiting"}, {"waiting", 7, "waitin"}, {"waiting", 0, "waiting"}, {"wäiting", 4, "wäi"},
		{"等待中", 6, "等待"}, {"等待中", 7, "等待中"},
	} {
		if got := cut(tc.line, tc.columns); got != tc.want {
			t.Errorf("%q in %d columns: got %q, want %q", tc.line, tc.columns, got, tc.want)
		}
	}
	var b bytes.Buffer
	c := newConsole(streams{strings.NewReader(""), io.Discard, &b, true})
	c.terminal, c.columns = true, func() int { return 5 }
	c.status("waiting")
	if b.String() != "wait" {
		t.Errorf("got %q, want a line that fits the terminal", b.String())
	}
}
