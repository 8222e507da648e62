package transport

import (
	"net/http"
	"testing"
	"time"
)

func TestIdleConnectionIsNotReusedNearKeepAliveTimeout(t *testing.T) {
	begun := time.Unix(1_800_000_000, 0)
	for header, c := range map[string]struct {
		still, over time.Duration // times after the response at which the connection may and may not be used
	}{
		"":                      {time.Hour, 0},
		"max=100":               {time.Hour, 0},
		"timeout=5":             {4 * time.Second, 4*time.Second + 1},
		"max=9, Timeout=60":     {59 * time.Second, 59*time.Second + 1},
		"timeout=1":             {time.Second / 2, time.Second/2 + 1},
		"timeout=0":             {time.Hour, 0},
		"timeout=soon":          {time.Hour, 0},
		"timeout=9999999999999": {time.Hour, 0},
	} {
		var k keepAlive
		k.note(&http.Response{Header: http.Header{"Keep-Alive": {header}}}, begun)
		if k.expired(begun.Add(c.still)) {
			t.Errorf("%q: after %v the connection is not used any more", header, c.still)
		}
		if c.over > 0 && !k.expired(begun.Add(c.over)) {
			t.Errorf("%q: after %v the connection is still used", header, c.over)
		}
		if c.over > 0 {
			k.note(&http.Response{Header: http.Header{}}, begun.Add(time.Hour))
			if k.expired(begun.Add(time.Hour + c.still)) {
				t.Errorf("%q: the connection is not used any more %v after another response", header, c.still)
			}
		}
	}
}
