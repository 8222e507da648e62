package mcpclient_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"weak"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

func TestIdleConnectionRetainsNoFrame(t *testing.T) {
	const large = 1 << 20
	var latest weak.Pointer[byte] // the first byte of the large frame
	wrap := func(s *script) transport.Transport {
		return &rigged{Transport: s, receive: func(ctx context.Context, next receiver) (transport.Frame, error) {
			f, err := next(ctx)
			if len(f.Data) > large {
				latest = weak.Make(&f.Data[0])
			}
			return f, err
		}}
	}
	bubbleWith(t, nil, wrap, func(t *testing.T, s *script, c *mcpclient.Client) {
		v := s.next(t).modern()
		await(t, c)
		done := background(func() error { _, err := c.CallTool(t.Context(), "echo", nil); return err })
		v.Answer(v.Expect(mcp.MethodCallTool), fmt.Sprintf(textResult, strings.Repeat("x", large)))
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		runtime.GC()
		if latest.Value() != nil {
			t.Error("the frame is still in memory after its result has been dropped")
		}
	})
}
