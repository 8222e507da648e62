package otlp

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// deadPort returns an address without a listener.
func deadPort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// eachWay runs f over each protocol, with a collector that reacts with a. If a is nil, there is no collector.
func eachWay(t *testing.T, a answer, f func(t *testing.T, to []Option)) {
	t.Run("grpc", func(t *testing.T) {
		cleanEnv(t)
		at := deadPort(t)
		if a != nil {
			at = run(t, a)
		}
		f(t, []Option{WithEndpoint(at)})
	})
	t.Run("http", func(t *testing.T) {
		cleanEnv(t)
		at := "http://" + deadPort(t)
		if a != nil {
			at = runHTTP(t, a)
		}
		t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", at)
		t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", string(overHTTP))
		f(t, nil)
	})
}

func hang(ctx context.Context, _ signal) error { <-ctx.Done(); return ctx.Err() }

// soon bounds operations that do not wait for the collector. A Shutdown that waits takes 5 s.
const soon = 2 * time.Second

func TestUnreachableCollectorCausesNoDelay(t *testing.T) {
	eachWay(t, nil, func(t *testing.T, to []Option) {
		began := time.Now()
		p := setup(t, to...)
		record(t, p)
		err := p.Shutdown(context.Background())
		if took := time.Since(began); took > soon {
			t.Errorf("a run without a collector took %v, want less than %v", took, soon)
		}
		for _, sig := range []string{"traces: ", "metrics: ", "logs: "} {
			if err == nil || !strings.Contains(err.Error(), sig) {
				t.Errorf("Shutdown = %v, want an error that mentions %q", err, sig)
			}
		}
		if again := p.Shutdown(context.Background()); again != err {
			t.Errorf("second Shutdown = %v, want the error of the first, %v", again, err)
		}
	})
}

func TestShutdownDoesNotWaitForRetry(t *testing.T) {
	tried := make(chan struct{}, 1000)
	unavailable := func(context.Context, signal) error {
		tried <- struct{}{}
		return status.Error(codes.Unavailable, "try later")
	}
	eachWay(t, unavailable, func(t *testing.T, to []Option) {
		p := setup(t, append(to, WithExportInterval(time.Millisecond))...)
		_, span := p.TracerProvider().Tracer("test").Start(t.Context(), "work")
		span.End()
		<-tried // the exporter waits for its next try, or is about to wait

		began := time.Now()
		err := p.Shutdown(context.Background())
		if took := time.Since(began); took > soon {
			t.Errorf("Shutdown took %v while an export waited for its next try, want less than %v", took, soon)
		}
		if err == nil || !strings.Contains(err.Error(), "try later") && !strings.Contains(err.Error(), "503") &&
			!strings.Contains(err.Error(), errAbandoned.Error()) {
			t.Errorf("Shutdown = %v, want the collector's text or %q", err, errAbandoned)
		}
	})
}

func TestHangingSpanExportLeavesTimeForLogs(t *testing.T) {
	cleanEnv(t)
	logged := make(chan time.Time, 1)
	collector := func(ctx context.Context, sig signal) error {
		switch sig {
		case traces:
			return hang(ctx, sig)
		case logs:
			logged <- time.Now()
		}
		return nil
	}
	p := setup(t, WithEndpoint(run(t, collector)))
	record(t, p)

	const budget = 900 * time.Millisecond
	began := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), budget)
	defer cancel()
	err := p.Shutdown(ctx)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Shutdown = %v, want %v for the spans", err, context.DeadlineExceeded)
	}
	select {
	case at := <-logged:
		if after := at.Sub(began); after < budget*2/3 {
			t.Errorf("logs came after %v, want them after the spans had their two thirds of %v", after, budget)
		}
	default:
		t.Error("the log records did not arrive, want them in the last third")
	}
}

func TestNoExportOutlivesShutdown(t *testing.T) {
	began, ended := make(chan signal, 10), make(chan signal, 10)
	collector := func(ctx context.Context, sig signal) error {
		began <- sig
		defer func() { ended <- sig }()
		return hang(ctx, sig)
	}
	eachWay(t, collector, func(t *testing.T, to []Option) {
		p := setup(t, append(to, WithExportInterval(time.Millisecond))...)
		record(t, p)
		for range 3 {
			<-began
		}
		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
		defer cancel()
		p.Shutdown(ctx)
		late := time.After(4 * soon) // the exporters alone would need 10 s
		for range 3 {
			select {
			case <-ended:
			case <-late:
				t.Fatal("an export still runs after Shutdown, want it abandoned")
			}
		}
	})
}

func TestShutdownWithCancelledContextReturnsAtOnce(t *testing.T) {
	cleanEnv(t)
	p := setup(t, WithEndpoint(run(t, hang)))
	record(t, p)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := p.Shutdown(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Shutdown = %v, want %v", err, context.Canceled)
	}
}

func TestHangingCollectorDoesNotBlockProgram(t *testing.T) {
	cleanEnv(t)
	t.Setenv("OTEL_BSP_MAX_QUEUE_SIZE", "8")
	t.Setenv("OTEL_BLRP_MAX_QUEUE_SIZE", "8")
	p := setup(t, WithEndpoint(run(t, hang)), WithExportInterval(time.Millisecond))
	began := time.Now()
	for range 1000 {
		record(t, p)
	}
	if took := time.Since(began); took > soon {
		t.Errorf("1000 spans, counts and log records took %v, want less than %v", took, soon)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if err := p.ForceFlush(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("ForceFlush = %v, want %v", err, context.DeadlineExceeded)
	}
	p.Shutdown(ctx)
}

func TestShutdownWithoutDeadlineTakesFiveSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := within(t.Context())
		defer cancel()
		began := time.Now()
		<-ctx.Done()
		if took := time.Since(began); took != closeTimeout {
			t.Errorf("the context ends after %v, want %v", took, closeTimeout)
		}

		own, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		ctx, cancel = within(own)
		defer cancel()
		if got, _ := ctx.Deadline(); time.Until(got) != time.Minute {
			t.Errorf("the context ends in %v, want the caller's minute", time.Until(got))
		}
	})
}
