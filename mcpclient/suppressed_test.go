package mcpclient

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/mcp"
)

// A server that asks for what the client refuses is refused each time; the warning that comes when one may come again
// tells how many others there were.
func TestAWarningTellsOfThoseThatWereNotGiven(t *testing.T) {
	refuse := func(context.Context, *Request) (any, error) {
		return nil, &mcp.Error{Code: -32021, Message: "no"}
	}
	at20251125(t, &Options{Features: []Feature{HandleRequest("acme/x", refuse)}},
		func(t *testing.T, s *script, v *conversation, c *Client) {
			refused := func(id int) {
				v.Send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"acme/x"}`, id))
				if f := v.Receive(); f.Error == nil {
					t.Fatalf("want the request refused, got %s", f.Raw)
				}
			}
			for id := range 10 {
				refused(id)
			}
			time.Sleep(2 * time.Second)
			refused(10)
		})
}
