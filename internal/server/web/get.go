package web

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/mcpotel/mcpotel/internal/jsonrpc"
	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
	"github.com/mcpotel/mcpotel/mcpserver/store"
)

// get opens a stream for reading: the session's stream for messages that belong to no request, the rest of an
// interrupted stream, or the stream of HTTP+SSE. A second reader of a stream replaces the first reader, because the
// connection of the first reader may have broken unnoticed. (specification 2025-11-25, basic/transports, "Listening for
// Messages from the Server")
func (h *Handler) get(w http.ResponseWriter, r *http.Request) {
	id, versions := r.Header.Get(headerSession), r.Header[HeaderVersion]
	old := id == "" && len(versions) == 0 && h.hasSSE() && strings.Contains(r.Header.Get("Accept"), typeStream)
	switch {
	case !old && !h.hasSessions(), len(versions) > 0 && mcp.Version(versions[0]).Era() == mcp.Modern:
		h.notAllowed(w, r)
		return
	case !accepted(r.Header).stream:
		h.refuse(w, r, notAcceptable(jsonrpc.ID{}, typeStream))
		return
	case old:
		h.getSSE(w, r)
		return
	case id == "":
		h.refuse(w, r, badRequest(names.RefusalHeader, "the header "+headerSession+" is missing"))
		return
	}
	p := post{w: w, r: r}
	if len(versions) > 0 {
		p.version = mcp.Version(versions[0])
	}
	if s := h.session(w, r, id, false); s != nil {
		defer s.release()
		if h.knownVersion(&p) {
			h.listen(w, r, s)
		}
	}
}

// listen writes a stream of a session to a client until the client or the stream ends.
func (h *Handler) listen(w http.ResponseWriter, r *http.Request, s *session) {
	if s.shared != nil && h.fleet.events != nil {
		h.fleet.listen(w, r, s)
		return
	}
	if s.shared != nil {
		if err := h.fleet.tell(r.Context(), "", signal{Kind: signalReading, Session: s.id}); err != nil {
			h.unavailable(w, r)
			return
		}
	}
	resp := h.streamTo(w)
	t, err := s.read(r.Context(), resp, r.Header.Get(headerLastEventID))
	if err != nil {
		h.refuse(w, r, badRequest(names.RefusalHeader, err.Error()))
		return
	}
	defer s.conn.Exchange().Peer.Tel.StreamOpened(names.StreamGet)()
	t.serve(r.Context(), resp)
}

// streamTo returns a response that will become a stream.
func (h *Handler) streamTo(w http.ResponseWriter) *response {
	return &response{cfg: &h.cfg, w: w, ctl: *http.NewResponseController(w), accept: accept{stream: true}}
}

// serve waits until the response or its request ends, and detaches the reader.
func (t *stream) serve(ctx context.Context, r *response) {
	select {
	case <-r.done():
	case <-ctx.Done():
	}
	t.detach(r)
}

// read connects a response to the general stream if lastEventID is empty or there is no store of events. Otherwise it
// connects the response to the stream of that event, after the event. If read returns an error, it has written nothing:
// the event id is invalid, the event or later ones are missing, or the store has failed.
func (s *session) read(ctx context.Context, r *response, lastEventID string) (*stream, error) {
	if lastEventID == "" || s.cfg.Events == nil {
		s.general.listen(r)
		return s.general, nil
	}
	id, ok := parseEventID(lastEventID)
	if !ok {
		return nil, errNoSuchEvent
	}
	t := s.stream(id.Stream)
	if t == nil {
		return nil, errNoSuchEvent
	}
	return t, t.resume(ctx, r, id.Sequence)
}

// parseEventID parses the result of store.EventID.String.
func parseEventID(s string) (id store.EventID, ok bool) {
	stream, sequence, _ := strings.Cut(s, "-")
	id.Stream, _ = strconv.ParseInt(stream, 10, 64)
	id.Sequence, _ = strconv.ParseInt(sequence, 10, 64)
	return id, id.Stream >= 0 && id.Sequence >= 0 && id.String() == s
}
