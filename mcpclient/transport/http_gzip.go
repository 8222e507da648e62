package transport

import (
	"compress/gzip"
	"io"
	"net/http"
	"strings"
)

// asksGzip reports whether the client itself sets Accept-Encoding and decompresses the response. This saves a copy of
// the header for each request: net/http would make one to set the field.
func (q *requester) asksGzip() bool {
	own := q.own.fields
	return q.private() && !q.known.DisableCompression && own["Accept-Encoding"] == nil && own["Range"] == nil
}

// gunzip decompresses the body of a response, as net/http does.
func gunzip(resp *http.Response) {
	if resp.ContentLength == 0 || !strings.EqualFold(resp.Header.Get("Content-Encoding"), "gzip") {
		return
	}
	resp.Body = &gunzipped{ReadCloser: resp.Body}
	resp.Header.Del("Content-Encoding")
	resp.Header.Del("Content-Length")
	resp.ContentLength, resp.Uncompressed = -1, true
}

// gunzipped decompresses a body. It reads the gzip header at the first Read.
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
