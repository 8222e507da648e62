package fleet

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
)

// Wait is what the tool wait does: it rings the bell, if there is one, to say that it is being handled, and returns
// when it is cancelled.
func Wait(ctx context.Context, bell string) error {
	if bell != "" {
		if err := ring(ctx, bell); err != nil {
			return err
		}
	}
	<-ctx.Done()
	return ctx.Err()
}

func ring(ctx context.Context, bell string) error {
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, bell, nil)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(q)
	if err != nil {
		return err
	}
	return answer.Body.Close()
}

// Bell returns a URL that rings, and a channel that is closed then.
func Bell(t *testing.T) (url string, rung <-chan struct{}) {
	t.Helper()
	heard := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { close(heard) }))
	t.Cleanup(s.Close)
	return s.URL, heard
}

// leaving is a context that ends when a bell rings, with an error that may be that of a deadline.
type leaving struct {
	context.Context
	rung <-chan struct{}
	why  error
}

func (l *leaving) Done() <-chan struct{} { return l.rung }

func (l *leaving) Err() error {
	select {
	case <-l.rung:
		return l.why
	default:
		return nil
	}
}
