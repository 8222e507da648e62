package metadata

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/mcpotel/mcpotel/internal/version"
)

// Revision 2025-03-26, which has no protected-resource metadata, requires the header versionHeader.
const (
	versionHeader = "MCP-Protocol-Version"
	legacyVersion = "2025-03-26"
)

// Do sends a request to an endpoint from the metadata. The guard and the limits of time and size apply. Do follows
// redirects only for GET; for other methods, it returns the redirect as the response. Reading more of the body than
// the size limit is an error. The caller closes the body.
func (f *Fetcher) Do(req *http.Request) (*http.Response, error) {
	resp, err := f.http.Do(req)
	if err != nil {
		return nil, unreachable(req.URL, err)
	}
	resp.Body = &limited{ReadCloser: resp.Body, left: f.limit, limit: f.limit}
	return resp, nil
}

// limited is a body that returns an error at its limit instead of io.EOF.
type limited struct {
	io.ReadCloser
	left, limit int64
}

func (l *limited) Read(p []byte) (int, error) {
	if int64(len(p)) > l.left+1 {
		p = p[:l.left+1]
	}
	n, err := l.ReadCloser.Read(p)
	if int64(n) > l.left {
		n, l.left = int(l.left), 0
		return n, invalid("response exceeds the limit of %d bytes", l.limit)
	}
	l.left -= int64(n)
	return n, err
}

// first returns the first valid document from several locations on one host. If the host is unreachable, first does not
// try the other locations. A refusal by the guard is different: it may concern only a redirect of one location, so
// first tries the others.
func (f *Fetcher) first(ctx context.Context, places []*url.URL, header http.Header, use func([]byte) error) error {
	var failed []*Error
	for _, place := range places {
		e := f.document(ctx, place, header, use)
		if e == nil {
			return nil
		}
		failed = append(failed, e)
		if e.Status == 0 && !errors.Is(e, ErrRefused) {
			break
		}
	}
	return combine(failed)
}

// document gets one document and passes it to use, which returns an error for an invalid document.
func (f *Fetcher) document(ctx context.Context, place *url.URL, header http.Header, use func([]byte) error) *Error {
	req := (&http.Request{Method: http.MethodGet, URL: place, Host: place.Host, Header: header.Clone()}).WithContext(ctx)
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "mcpotel/"+version.Version)
	resp, err := f.http.Do(req)
	if err != nil {
		return unreachable(place, err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return &Error{URL: bare(place), Status: resp.StatusCode, Err: statusError(resp.StatusCode)}
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, f.limit+1))
	switch {
	case err != nil:
		err = fmt.Errorf("read: %w", err)
		return unreachable(place, err)
	case int64(len(data)) > f.limit:
		err = invalid("document exceeds the limit of %d bytes", f.limit)
	case !bytes.HasPrefix(bytes.TrimLeft(data, " \t\r\n"), []byte("{")):
		err = fmt.Errorf("%w: the response is not a JSON object", errAbsent)
	default:
		err = use(data)
	}
	if err != nil {
		return &Error{URL: bare(place), Status: resp.StatusCode, Err: err}
	}
	return nil
}
