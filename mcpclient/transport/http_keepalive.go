package transport

import (
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// keepAlive records how long a server keeps an idle connection of HTTP/1; the default of Node is 5 s. A request
// that is sent while the server closes the connection is lost, and cannot be retried, because the server may have
// acted on it.
// (RFC 2068, section 19.7.1.1; RFC 9112, section 9.3)
type keepAlive struct {
	timeout atomic.Int64 // timeout that the server sent, a time.Duration; 0 for none
	used    atomic.Int64 // time of the latest response, in Unix nanoseconds
}

// keepAliveMargin is how long before the server's timeout the client stops using an idle connection. If half of the
// timeout is shorter, half of the timeout counts instead.
const keepAliveMargin = time.Second

// expired reports whether the server may be closing the idle connections.
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
