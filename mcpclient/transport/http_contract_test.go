package transport_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"

	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpclient/transport/transporttest"
)

func TestHTTPPassesTransportTests(t *testing.T) {
	for name, form := range map[string]httpForm{
		"JSON":   {mode: transport.ModeStreamable, json: true},
		"events": {mode: transport.ModeStreamable},
		"old":    {mode: transport.ModeSSE},
	} {
		t.Run(name, func(t *testing.T) {
			transporttest.TestTransport(t, func(t *testing.T) transporttest.Subject {
				s := &httpSubject{t: t, form: form, peers: make(chan *httpPeer, 100)}
				return transporttest.Subject{Transport: s, Accept: s.accept, Unordered: true,
					Notices: form.mode == transport.ModeSSE}
			})
		})
	}
}

// httpForm is a way in which the server of a contract test sends frames.
type httpForm struct {
	mode transport.HTTPMode
	json bool // one frame, as the answer to each request
}

// httpSubject is a transport whose server may send any number of frames without a request. In HTTP only clients begin
// exchanges, so each dial is followed by a request, the poll; if the server answers in JSON, another poll follows each
// answer. Each dial has its own server, so that the server can end.
type httpSubject struct {
	t     *testing.T
	form  httpForm
	peers chan *httpPeer
}

const pollID = 1 << 40

// poll returns the request whose answer carries the frames of the server. The server recognizes the poll by its
// protocol version.
func poll() transport.Message {
	return transport.Message{
		Data: []byte(`{"jsonrpc":"2.0","id":1099511627776,"method":"poll"}`),
		Kind: transport.KindRequest, ID: pollID, Method: "poll", ProtocolVersion: "poll",
	}
}

func (s *httpSubject) Unwrap() transport.Transport { return new(transport.HTTP) }
func (s *httpSubject) Name() string                { return (&transport.HTTP{URL: "http://server"}).Name() }
func (s *httpSubject) Network() transport.Network {
	return (&transport.HTTP{URL: "http://server"}).Network()
}

func (s *httpSubject) Dial(ctx context.Context, cfg transport.Config) (transport.Conn, error) {
	p := newHTTPPeer(s.form)
	h := &transport.HTTP{URL: p.server.URL, Mode: s.form.mode, MaxInFlight: 16}
	conn, err := h.Dial(ctx, cfg)
	if err == nil {
		err = conn.Send(context.Background(), poll())
	}
	if err != nil {
		p.close()
		return nil, err
	}
	s.t.Cleanup(p.close)
	s.peers <- p
	return &pollingConn{conn, p}, nil
}

func (s *httpSubject) accept(ctx context.Context) (transporttest.Peer, error) {
	select {
	case p := <-s.peers:
		return p, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// pollingConn sends another poll after a poll was answered or has failed. The frames of the contract test are not
// JSON-RPC answers, so a poll that is answered in JSON also fails with ReasonMalformed.
type pollingConn struct {
	transport.Conn
	peer *httpPeer
}

func (c *pollingConn) Receive(ctx context.Context) (transport.Frame, error) {
	for {
		f, err := c.Conn.Receive(ctx)
		skipped := f.Err != nil && f.Err.Reason == transport.ReasonTooLarge
		switch {
		case err != nil:
			return f, err
		case c.peer.form.json && (skipped || f.Err == nil):
			c.poll()
			return f, nil
		case skipped || f.Err == nil:
			return f, nil
		case f.Err.Reason != transport.ReasonMalformed: // ReasonMalformed follows every frame in JSON
			c.poll()
		}
	}
}

func (c *pollingConn) poll() {
	_ = c.Send(context.Background(), poll()) // if it is refused, Receive returns the reason
}

func (c *pollingConn) Close(ctx context.Context) error {
	err := c.Conn.Close(ctx)
	c.peer.close()
	return err
}

// httpPeer is the server of one connection. It reads the body of a message only when the test receives.
type httpPeer struct {
	form   httpForm
	server *httptest.Server
	closed chan struct{} // closed when the client has closed the connection
	once   sync.Once

	parts  chan part     // parts of frames to write
	wrote  chan error    // result of writing a part
	wanted chan struct{} // the test wants to receive
	got    chan []byte
}

// part is a piece of a frame.
type part struct {
	data []byte
	last bool
}

func newHTTPPeer(form httpForm) *httpPeer {
	p := &httpPeer{
		form: form, closed: make(chan struct{}),
		parts: make(chan part), wrote: make(chan error), wanted: make(chan struct{}), got: make(chan []byte),
	}
	p.server = httptest.NewServer(p)
	return p
}

func (p *httpPeer) close() {
	p.once.Do(func() { close(p.closed) })
	p.server.CloseClientConnections()
	p.server.Close()
}

func (p *httpPeer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method == http.MethodGet:
		p.stream(w, r)
	case r.Header.Get("Mcp-Protocol-Version") != "poll":
		p.take(w, r)
	case p.form.mode == transport.ModeSSE:
		w.WriteHeader(202)
	default:
		_, _ = io.Copy(io.Discard, r.Body)
		p.stream(w, r)
	}
}

// take passes a message to the test when the test receives.
func (p *httpPeer) take(w http.ResponseWriter, r *http.Request) {
	select {
	case <-p.wanted:
	case <-p.closed:
		return
	}
	data, err := io.ReadAll(r.Body)
	if err == nil {
		p.got <- data
		w.WriteHeader(202)
		return
	}
	p.got <- nil
}

// stream writes the frames that the test sends: one frame if the answer is JSON, otherwise all frames.
func (p *httpPeer) stream(w http.ResponseWriter, r *http.Request) {
	if p.form.json {
		w.Header().Set("Content-Type", "application/json")
	} else {
		answerEvents(w, "")
	}
	if p.form.mode == transport.ModeSSE {
		writeFlushed(w, "event: endpoint\ndata: /messages\n\n")
	}
	for begun := false; ; {
		select {
		case part := <-p.parts:
			p.wrote <- p.write(w, part, begun)
			if begun = !part.last; part.last && p.form.json {
				return
			}
		case <-r.Context().Done():
			return
		case <-p.closed:
			panic(http.ErrAbortHandler) // without the panic, the client would get an empty answer
		}
	}
}

// write writes a part. A frame in one part is complete when write returns; the end of a body without a length is
// written later.
func (p *httpPeer) write(w http.ResponseWriter, part part, begun bool) error {
	data := part.data
	switch {
	case p.form.json && !begun && part.last:
		w.Header().Set("Content-Length", strconv.Itoa(len(data)))
	case p.form.json:
	default:
		if !begun {
			data = append([]byte("data: "), data...)
		}
		if part.last {
			data = append(data, "\n\n"...)
		}
	}
	_, err := w.Write(data)
	return errors.Join(err, http.NewResponseController(w).Flush())
}

func (p *httpPeer) Begin(ctx context.Context, data []byte) error {
	return p.put(ctx, part{data, false})
}
func (p *httpPeer) Send(ctx context.Context, data []byte) error { return p.put(ctx, part{data, true}) }

func (p *httpPeer) put(ctx context.Context, part part) error {
	part.data = bytes.Clone(part.data)
	select {
	case p.parts <- part:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	select {
	case err := <-p.wrote:
		return err
	case <-ctx.Done():
		go func() { <-p.wrote }() // the part may still be written
		return context.Cause(ctx)
	}
}

func (p *httpPeer) Receive(ctx context.Context) ([]byte, error) {
	select {
	case p.wanted <- struct{}{}:
	case <-p.closed:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	select {
	case data := <-p.got:
		if data == nil {
			return nil, io.ErrUnexpectedEOF
		}
		return data, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (p *httpPeer) Exit(context.Context) error {
	p.close()
	return nil
}
