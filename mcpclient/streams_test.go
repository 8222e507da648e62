package mcpclient_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// streams wraps a script in a transport in which requests have their own streams, as over HTTP, and may fail
// separately. The methods own and fail of a conversation write to the stream of one request.
func streams(s transport.Transport) *rigged {
	return &rigged{Transport: s, receive: func(ctx context.Context, next receiver) (transport.Frame, error) {
		return onStream(next(ctx))
	}}
}

// onStream decodes the frames that the methods own and fail of a conversation have written.
func onStream(f transport.Frame, err error) (transport.Frame, error) {
	what, rest, _ := strings.Cut(string(f.Data), " ")
	if err != nil || what != "own" && what != "fail" {
		return f, err
	}
	id, data, _ := strings.Cut(rest, " ")
	if f.Request, err = strconv.ParseInt(id, 10, 64); err != nil {
		return f, err
	}
	if what == "own" {
		f.Data = []byte(data)
		return f, nil
	}
	f.Data, f.Err = nil, new(transport.RequestError)
	return f, json.Unmarshal([]byte(data), f.Err)
}

// own writes a frame on the stream of f.
func (c *conversation) own(f frame, data string) {
	c.t.Helper()
	c.Send(fmt.Sprintf("own %s %s", f.ID, data))
}

// fail makes only request f fail.
func (c *conversation) fail(f frame, e transport.RequestError) {
	c.t.Helper()
	data, err := json.Marshal(e)
	if err != nil {
		c.t.Fatal(err)
	}
	c.Send(fmt.Sprintf("fail %s %s", f.ID, data))
}

// streamed runs f in a bubble with a client whose requests have their own streams.
func streamed(t *testing.T, o *mcpclient.Options, f func(t *testing.T, s *script, c *mcpclient.Client)) {
	t.Helper()
	bubbleWith(t, o, func(s *script) transport.Transport { return streams(s) }, f)
}

// bubbleWith runs f in a bubble with a client of a script that is wrapped by wrap.
func bubbleWith(t *testing.T, o *mcpclient.Options, wrap func(*script) transport.Transport,
	f func(t *testing.T, s *script, c *mcpclient.Client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := newScript(t)
		c, err := mcpclient.New(wrap(s), checked(t, o))
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := c.Close(); err != nil {
				t.Errorf("stop: %v", err)
			}
		}()
		f(t, s, c)
	})
}

// pinnedLegacy returns options of a client that does not probe.
func pinnedLegacy() *mcpclient.Options { return &mcpclient.Options{Versions: legacyOnly} }

// elapsed returns the time that passes in f.
func elapsed(f func()) time.Duration {
	start := time.Now()
	f()
	return time.Since(start)
}
