package transport

import (
	"compress/gzip"
	"io"
	"net/http"
	"strings"
)

// asksGzip reports whether requests say themselves that an answer may be compressed, as net/http would for each of
// them, in a second header. No other code undoes it then.
func (q *requester) asksGzip() bool {
	own := q.own.fields
	return q.private() && !q.known.DisableCompression && own["Accept-Encoding"] == nil && own["Range"] == nil
}

// gunzip makes the body of a compressed answer what it was, as net/http does.
func gunzip(resp *http.Response) {
	if resp.ContentLength == 0 || !strings.EqualFold(resp.Header.Get("Content-Encoding"), "gzip") {
		return
	}
	resp.Body = &gunzipped{ReadCloser: resp.Body}
	resp.Header.Del("Content-Encoding")
	resp.Header.Del("Content-Length")
	resp.ContentLength, resp.Uncompressed = -1, true
}

// gunzipped is a compressed body, of which nothing is read before it is read itself.
type gunzipped struct {
	io.ReadCloser
	content *gzip.Reader
	err     error
}

func (g *gunzipped) Read(p []byte) (int, error) {
	if g.content == nil && g.err == nil {
		g.content, g.err = gzip.NewReader(g.ReadCloser)
	}
	if g.err != nil {
		return 0, g.err
	}
	return g.content.Read(p)
}
