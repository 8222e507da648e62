package fleet

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
)

// Wait implements the tool wait: it sends a GET request to the URL, if there is one, to report that the handler runs,
// and returns when it is cancelled.
func Wait(ctx context.Context, url string) error {
	if url != "" {
		if err := get(ctx, url); err != nil {
			return err
		}
	}
	<-ctx.Done()
	return ctx.Err()
}

func get(ctx context.Context, url string) error {
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(q)
	if err != nil {
		return err
	}
	return answer.Body.Close()
}

// Handled returns a URL for [Wait], and a channel that is closed when the URL is requested.
func Handled(t *testing.T) (url string, handled <-chan struct{}) {
	t.Helper()
	got := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { close(got) }))
	t.Cleanup(s.Close)
	return s.URL, got
}

// callerContext is a context that ends when the URL of [Handled] is requested, with the error why.
type callerContext struct {
	context.Context
	handled <-chan struct{}
	why     error
}

func (l *callerContext) Done() <-chan struct{} { return l.handled }

func (l *callerContext) Err() error {
	select {
	case <-l.handled:
		return l.why
	default:
		return nil
	}
}
