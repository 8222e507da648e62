//go:build unix

package mcpclient_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// readers returns the stacks of goroutines that read a connection.
func readers() (found []string) {
	buf := make([]byte, 1<<20)
	for stack := range strings.SplitSeq(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
		if strings.Contains(stack, "conn.(*openLink).read(") {
			found = append(found, stack)
		}
	}
	return found
}

func TestIdleHTTPClientHasNoReadingGoroutine(t *testing.T) {
	piped, err := mcpclient.Connect(t.Context(), weatherServer(), nil)
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "a client over a pipe to have a goroutine that reads", func() bool { return len(readers()) == 1 },
		func() string { return "none that is known by its name" })
	_ = piped.Close()
	s := newSite(t, nil)
	c := visit(t, s, mcp.Version20260728, transport.ModeAuto)
	var last []string
	none := func() bool { last = readers(); return len(last) == 0 }
	shown := func() string { return strings.Join(last, "\n\n") }
	for range 2 {
		eventually(t, "no goroutine that reads before and after a call", none, shown)
		if _, err := c.CallTool(t.Context(), "greet", map[string]string{"name": "Ada"}); err != nil {
			t.Fatal(err)
		}
	}
	s.CloseClientConnections()
	s.Close()
	eventually(t, "calls to fail and the client to notice that the server is gone", func() bool {
		_, err := c.CallTool(t.Context(), "greet", nil)
		return err != nil && c.State() != connstate.Ready
	}, func() string { return "ready" })
}
