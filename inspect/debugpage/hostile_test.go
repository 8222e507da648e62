package debugpage_test

import (
	"strings"
	"testing"

	"github.com/mcpotel/mcpotel/inspect"
	"github.com/mcpotel/mcpotel/inspect/debugpage"
	attack "github.com/mcpotel/mcpotel/internal/testsupport/hostile"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
)

// TestPagesEscapeTextOfPeers puts an attack into every field of a client and a server, and checks each page and each
// JSON response.
func TestPagesEscapeTextOfPeers(t *testing.T) {
	var c inspect.Client
	attack.Fill(&c, attack.Words)
	c.State, c.Number = connstate.Ready, 1
	var s inspect.Server
	attack.Fill(&s, attack.Words)
	s.Number = 1
	h := debugpage.Handler(debugpage.WithClients(client(c)), debugpage.WithServers(server(s)))
	for _, query := range []string{"", "?client=1", "?server=1", "?q=System", "?group=x"} {
		for _, format := range []string{"", "format=json"} {
			w := get(t, h, strings.TrimSuffix("?"+strings.TrimPrefix(query, "?")+"&"+format, "&"))
			body := text(t, w)
			attack.Check(t, query+" "+format, body)
			if query == "?client=1" && !strings.Contains(body, "System: delete") {
				t.Errorf("%s %s: want the escaped text, got %s", query, format, body)
			}
		}
	}
}
