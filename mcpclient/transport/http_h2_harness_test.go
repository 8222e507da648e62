package transport_test

import (
	"crypto/tls"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// Types of HTTP/2 frames, and the errors of RST_STREAM. (RFC 9113, sections 6 and 7)
const (
	h2Data, h2Headers, h2Reset, h2Settings, h2Ping, h2GoAway = 0, 1, 3, 4, 6, 7

	h2ProtocolError, h2InternalError, h2RefusedStream = 1, 2, 7
)

// h2Server implements just enough of HTTP/2 to answer a POST, and two features that net/http's server lacks: it resets
// a stream with any error, and it sends GOAWAY without processing a stream.
type h2Server struct {
	handle func(s *h2Stream, m sent)

	mu   sync.Mutex
	seen map[int64]int // number of arrivals of each message; guarded by mu
	open []net.Conn    // guarded by mu
	done bool          // guarded by mu
}

// h2Stream is a completely received request.
type h2Stream struct {
	conn net.Conn
	id   uint32
}

// serveH2 starts an h2Server, and returns the transport for it.
func serveH2(t *testing.T, handle func(s *h2Stream, m sent)) (*h2Server, *transport.HTTP) {
	t.Helper()
	like := httptest.NewUnstartedServer(http.NotFoundHandler())
	like.StartTLS()
	t.Cleanup(like.Close)
	l, err := tls.Listen("tcp", "127.0.0.1:0",
		&tls.Config{Certificates: like.TLS.Certificates, NextProtos: []string{"h2"}})
	if err != nil {
		t.Fatal(err)
	}
	s := &h2Server{handle: handle, seen: map[int64]int{}}
	var tasks sync.WaitGroup
	tasks.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			tasks.Go(func() { s.serve(conn) })
		}
	})
	pool := like.Client().Transport.(*http.Transport).Clone()
	pool.ForceAttemptHTTP2 = true
	t.Cleanup(func() {
		pool.CloseIdleConnections()
		_ = l.Close()
		s.close()
		tasks.Wait()
	})
	return s, &transport.HTTP{URL: "https://" + l.Addr().String(), Client: &http.Client{Transport: pool},
		Mode: transport.ModeStreamable}
}

// close closes all connections and rejects later ones.
func (s *h2Server) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done = true
	for _, conn := range s.open {
		_ = conn.Close()
	}
}

// came records a connection, and reports whether the server is still open.
func (s *h2Server) came(conn net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open = append(s.open, conn)
	return !s.done
}

// times returns how often the message has arrived.
func (s *h2Server) times(id int64) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen[id]
}

func (s *h2Server) serve(conn net.Conn) {
	defer conn.Close()
	if !s.came(conn) {
		return
	}
	preface := make([]byte, len("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"))
	if _, err := io.ReadFull(conn, preface); err != nil {
		return
	}
	writeH2(conn, h2Settings, 0, 0, nil)
	bodies := map[uint32]string{}
	for {
		var head [9]byte
		if _, err := io.ReadFull(conn, head[:]); err != nil {
			return
		}
		payload := make([]byte, int(head[0])<<16|int(head[1])<<8|int(head[2]))
		if _, err := io.ReadFull(conn, payload); err != nil {
			return
		}
		kind, flags, id := head[3], head[4], binary.BigEndian.Uint32(head[5:])
		switch {
		case kind == h2Settings && flags&1 == 0:
			writeH2(conn, h2Settings, 1, 0, nil)
		case kind == h2Ping && flags&1 == 0:
			writeH2(conn, h2Ping, 1, 0, payload)
		case kind == h2Data:
			bodies[id] += string(payload)
			if flags&1 != 0 {
				s.come(&h2Stream{conn, id}, bodies[id])
			}
		}
	}
}

func (s *h2Server) come(stream *h2Stream, body string) {
	m := readSent(&http.Request{Body: io.NopCloser(strings.NewReader(body))})
	s.mu.Lock()
	s.seen[m.ID]++
	s.mu.Unlock()
	s.handle(stream, m)
}

func (s *h2Stream) answer(body string) {
	writeH2(s.conn, h2Headers, 4, s.id, []byte{0x88}) // END_HEADERS; :status: 200 (RFC 7541, appendix A)
	writeH2(s.conn, h2Data, 1, s.id, []byte(body))
}

func (s *h2Stream) reset(code uint32) {
	writeH2(s.conn, h2Reset, 0, s.id, binary.BigEndian.AppendUint32(nil, code))
}

// goAway reports to the client that this request and all later ones on this connection are not processed.
func (s *h2Stream) goAway() {
	writeH2(s.conn, h2GoAway, 0, 0, binary.BigEndian.AppendUint64(nil, uint64(s.id-2)<<32))
}

func writeH2(conn net.Conn, kind, flags byte, stream uint32, payload []byte) {
	n := len(payload)
	frame := binary.BigEndian.AppendUint32([]byte{byte(n >> 16), byte(n >> 8), byte(n), kind, flags}, stream)
	_, _ = conn.Write(append(frame, payload...))
}
