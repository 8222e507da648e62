package otlp

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

var errDown = status.Error(codes.Unavailable, "down")

// try makes one try of an export. The try has the given outcome.
func try(ctx context.Context, l *link, outcome error) error {
	return l.intercept(ctx, "/Export", nil, nil, nil,
		func(context.Context, string, any, any, *grpc.ClientConn, ...grpc.CallOption) error { return outcome })
}

func TestLinkAllowsRetriesWhileProgramRuns(t *testing.T) {
	l := newLink()
	err := l.do(t.Context(), func(ctx context.Context) error { return try(ctx, l, errDown) })
	if status.Code(err) != codes.Unavailable {
		t.Errorf("error = %v, want the collector's error with its code Unavailable", err)
	}
	if err := l.loss(); err != nil {
		t.Errorf("loss = %v before the shutdown, want none", err)
	}
}

func TestFailureAfterLastTryIsNotRetried(t *testing.T) {
	l := newLink()
	l.lastTry()
	err := l.do(t.Context(), func(ctx context.Context) error { return try(ctx, l, errDown) })
	if err == nil || err.Error() != "down" {
		t.Errorf("error = %v, want the collector's text, down", err)
	}
	if code := status.Code(err); code != codes.Unknown {
		t.Errorf("code = %v, want Unknown, which no exporter retries", code)
	}
	if l.loss() != err {
		t.Errorf("loss = %v, want %v", l.loss(), err)
	}
}

// TestLaterCumulativeExportReplacesFailedOne shuts down a reader of cumulative metrics during its export.
func TestLaterCumulativeExportReplacesFailedOne(t *testing.T) {
	for _, whole := range []bool{true, false} {
		l := newLink()
		l.whole = whole
		l.lastTry()
		_ = l.do(t.Context(), func(context.Context) error { return context.Canceled })
		_ = l.do(t.Context(), func(context.Context) error { return nil })
		if lost := l.loss() != nil; lost == whole {
			t.Errorf("batches that include earlier data: %v: want a loss only if false, got %v", whole, l.loss())
		}
	}
}

func TestSuccessAfterLastTryReportsNoLoss(t *testing.T) {
	l := newLink()
	l.lastTry()
	if err := l.do(t.Context(), func(ctx context.Context) error { return try(ctx, l, nil) }); err != nil ||
		l.loss() != nil {
		t.Errorf("error = %v, loss = %v, want none", err, l.loss())
	}
}

func TestLastTryEndsWaitForRetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLink()
		result := make(chan error)
		go func() {
			result <- l.do(context.Background(), func(ctx context.Context) error {
				try(ctx, l, errDown)
				<-ctx.Done()
				return context.Cause(ctx)
			})
		}()
		synctest.Wait()
		l.lastTry()
		if err := <-result; err != errAbandoned {
			t.Errorf("error = %v, want %v", err, errAbandoned)
		}
		if err := l.do(t.Context(), func(ctx context.Context) error { return ctx.Err() }); err != nil {
			t.Errorf("a later export returns %v, want nil", err)
		}
	})
}

func TestLastTryWaitsForRunningTry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLink()
		answer, result := make(chan error), make(chan error)
		go func() {
			result <- l.do(context.Background(), func(ctx context.Context) error {
				try(ctx, l, errDown)
				return l.intercept(ctx, "/Export", nil, nil, nil,
					func(ctx context.Context, _ string, _, _ any, _ *grpc.ClientConn, _ ...grpc.CallOption) error {
						select {
						case err := <-answer:
							return err
						case <-ctx.Done():
							return ctx.Err()
						}
					})
			})
		}()
		synctest.Wait()
		l.lastTry()
		answer <- nil
		if err := <-result; err != nil {
			t.Errorf("error = %v, want none, because the collector accepted the data", err)
		}
	})
}

func TestAbandonEndsEveryExport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLink()
		result := make(chan error)
		wait := func(ctx context.Context) error { <-ctx.Done(); return context.Cause(ctx) }
		go func() { result <- l.do(context.Background(), wait) }()
		synctest.Wait()
		l.abandon()
		if err := <-result; err != errAbandoned {
			t.Errorf("error of the running export = %v, want %v", err, errAbandoned)
		}
		if err := l.do(context.Background(), wait); err != errAbandoned {
			t.Errorf("error of a later export = %v, want %v", err, errAbandoned)
		}
	})
}

func TestExportEndsWithItsContext(t *testing.T) {
	want := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(want)
	err := newLink().do(ctx, func(ctx context.Context) error { return context.Cause(ctx) })
	if err != want {
		t.Errorf("error = %v, want %v", err, want)
	}
}
