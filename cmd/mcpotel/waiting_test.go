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

func TestAPersonSeesWhatIsWaitedFor(t *testing.T) {
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
			started := c.waitFor(&m)
			time.Sleep(2500 * time.Millisecond)
			if hear := m.Transport.(transport.Stdio).Stderr; terminal {
				hear("added 12\x1b[31m packages")
			} else if hear != nil {
				t.Error("somebody hears what nobody is shown")
			}
			time.Sleep(2 * time.Second)
			started()
			if got := b.String(); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func TestAServerThatStartsAtOnceIsNotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b bytes.Buffer
		c := newConsole(streams{strings.NewReader(""), io.Discard, &b, true})
		c.terminal = true
		started := c.waitFor(&mcpclient.Member{Name: "quick", Transport: transport.Stdio{Command: "quick"}})
		time.Sleep(time.Second)
		started()
		if b.Len() > 0 {
			t.Errorf("got %q, want nothing", b.String())
		}
	})
}
