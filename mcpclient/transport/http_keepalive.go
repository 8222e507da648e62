package transport

import (
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// keepAlive knows how long a server keeps an idle connection of HTTP/1: Node's default is 5 s. A request that is sent
// just as the server closes its connection is lost, for the server may have acted on it.
// (RFC 2068, section 19.7.1.1; RFC 9112, section 9.3)
type keepAlive struct {
	timeout atomic.Int64 // a time.Duration; 0 if the server sends none
	used    atomic.Int64 // when the latest response came, in nanoseconds since the epoch of Unix
}

// keepAliveMargin is how long before the end of the server's timeout an idle connection is used no more: half of the
// timeout, if that is less.
const keepAliveMargin = time.Second

// expired reports whether the server may be closing the connections that were used last.
func (k *keepAlive) expired(now time.Time) bool {
	timeout := time.Duration(k.timeout.Load())
	return timeout > 0 && now.Sub(time.Unix(0, k.used.Load())) > timeout-min(keepAliveMargin, timeout/2)
}

// note records the Keep-Alive field of a response.
func (k *keepAlive) note(resp *http.Response, now time.Time) {
	value := resp.Header.Get("Keep-Alive")
	if value == "" && k.timeout.Load() == 0 {
		return
	}
	k.used.Store(now.UnixNano())
	for part := range strings.SplitSeq(value, ",") {
		name, seconds, _ := strings.Cut(strings.TrimSpace(part), "=")
		if n, err := strconv.ParseUint(seconds, 10, 31); err == nil && strings.EqualFold(name, "timeout") {
			k.timeout.Store(int64(time.Duration(n) * time.Second))
		}
	}
}
