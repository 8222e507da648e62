package examples

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
	"github.com/mcpotel/mcpotel/mcpserver"
	"github.com/mcpotel/mcpotel/mcptest"
)

// The code in docs/guides/workers.md.

// docs:job

// Job is an entry of a queue, in any format.
type Job struct {
	Tool      string
	Arguments map[string]any
	Twice     bool              // the job is idempotent
	Trace     map[string]string // trace context of the request that created the job
	Task      string            // id of the task for the job; a secret
}

type Outcome string

const (
	Done    Outcome = "done"
	Again   Outcome = "again"   // requeue, with a delay
	Discard Outcome = "discard" // would fail again in the same way
	Ask     Outcome = "ask"     // the server may have acted: check before a retry
)

func work(ctx context.Context, client *mcpclient.Client, job Job) (Outcome, error) {
	result, err := client.CallTool(ctx, job.Tool, job.Arguments,
		mcpclient.WithTimeout(time.Minute), mcpclient.WaitForReady(), mcpclient.WaitForRoom(), mcpclient.Retry(2))
	if err == nil {
		err = result.Err()
	}
	_, refused := errors.AsType[*mcp.ToolError](err)
	_, answered := errors.AsType[*mcp.Error](err)
	switch {
	case err == nil:
		return Done, nil
	case refused, answered:
		return Discard, err
	case mcpclient.SafeToRetry(err), job.Twice:
		return Again, err
	default:
		return Ask, err
	}
}

// docs:end

// docs:trace

var carrier = propagation.TraceContext{} // or otel.GetTextMapPropagator()

// enqueue stores the trace context of the request in the job.
func enqueue(ctx context.Context, job *Job) {
	job.Trace = map[string]string{}
	carrier.Inject(ctx, propagation.MapCarrier(job.Trace))
}

// begin starts the span of the worker in a new trace, with a link to the request, which has ended long ago.
func begin(ctx context.Context, tracer trace.Tracer, job Job) (context.Context, trace.Span) {
	wanted := trace.SpanContextFromContext(carrier.Extract(ctx, propagation.MapCarrier(job.Trace)))
	return tracer.Start(ctx, "job "+job.Tool, trace.WithSpanKind(trace.SpanKindConsumer),
		trace.WithLinks(trace.Link{SpanContext: wanted}))
}

// docs:end

// docs:task

// finish does a job that takes hours. A restarted worker resumes the task that the previous worker started.
func finish(ctx context.Context, client *mcpclient.Client, job Job, save func(task string)) (
	*mcp.CallToolResult, error,
) {
	if job.Task != "" {
		return client.ResumeTask(job.Task).Wait(ctx)
	}
	task, err := client.StartTool(ctx, job.Tool, job.Arguments)
	if err != nil {
		return nil, err
	}
	if id := task.ID(); id != "" { // empty if the server has answered at once
		save(id)
	}
	return task.Wait(ctx)
}

// docs:end

// docs:stream

// enrich calls the tool for each city, with eight calls at a time. While all eight are in flight, it reads no cities,
// so the sender must wait.
func enrich(ctx context.Context, client *mcpclient.Client, cities <-chan string, tell func(city, sky string)) {
	var workers sync.WaitGroup
	for range 8 {
		workers.Go(func() {
			for city := range cities {
				result, err := client.CallTool(ctx, "forecast", map[string]string{"city": city},
					mcpclient.WaitForReady(), mcpclient.WaitForRoom(), mcpclient.Retry(2))
				if err == nil {
					err = result.Err()
				}
				if err != nil {
					tell(city, "unknown") // one failure does not end the stream
					continue
				}
				tell(city, result.Text())
			}
		})
	}
	workers.Wait()
}

// docs:end

// docs:page

// progress sends a web page the progress of a call, as server-sent events. When the page is closed, the call is
// cancelled.
func progress(client *mcpclient.Client) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		out := http.NewResponseController(w)
		var result *mcp.CallToolResult
		call := func(ctx context.Context, follow mcpclient.CallOption) (err error) {
			result, err = client.CallTool(ctx, "index", nil, follow, mcpclient.ResetTimeoutOnProgress(time.Hour))
			return err
		}
		for p, err := range mcpclient.FollowProgress(r.Context(), call) {
			if err != nil {
				_, _ = fmt.Fprintf(w, "event: failed\ndata: indexing failed\n\n")
				return
			}
			_, _ = fmt.Fprintf(w, "data: %g\n\n", p.Progress)
			_ = out.Flush()
		}
		_, _ = fmt.Fprintf(w, "event: done\ndata: %s\n\n", result.Text())
	}
}

// docs:end

// connected returns a server with tools, and a connected client.
func connected(t *testing.T, rec *telemetrytest.Recording, add func(s *mcpserver.Server) error) (*mcptest.Server,
	*mcpclient.Client) {
	t.Helper()
	server := mcptest.NewServer(t, &mcpserver.Options{Telemetry: rec.Telemetry()})
	if err := add(server.Server); err != nil {
		t.Fatal(err)
	}
	client, err := mcpclient.Connect(t.Context(), server, &mcpclient.Options{
		Telemetry: rec.Telemetry(), Features: []mcpclient.Feature{mcpclient.UseTasks(nil)},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return server, client
}

func TestGuideWorkerRetriesOnlySafeJobs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var server *mcptest.Server
		server, client := connected(t, telemetrytest.Recorder(t), func(s *mcpserver.Server) error {
			return mcpserver.AddTool(s, &mcp.Tool{Name: "pay"}, func(_ context.Context, in struct {
				Cents int `json:"cents"`
			}) (string, error) {
				switch in.Cents {
				case 0:
					return "", errors.New("nothing to pay")
				case 13:
					server.Kill()
				}
				return "paid", nil
			})
		})
		pay := func(cents int, twice bool) Job {
			return Job{Tool: "pay", Arguments: map[string]any{"cents": cents}, Twice: twice}
		}
		for _, test := range []struct {
			job  Job
			want Outcome
		}{
			{pay(5, false), Done}, {pay(0, false), Discard}, {pay(13, false), Ask}, {pay(13, true), Again},
			{pay(5, false), Done}, {Job{Tool: "steal"}, Discard},
		} {
			if got, err := work(t.Context(), client, test.job); got != test.want {
				t.Errorf("%+v: got %s (%v), want %s", test.job, got, err, test.want)
			}
		}
		_ = client.Close()
		if got, err := work(t.Context(), client, pay(5, false)); got != Again {
			t.Errorf("with a client that is stopped: got %s (%v), want %s", got, err, Again)
		}
	})
}

func TestGuideJobLinksToItsRequest(t *testing.T) {
	rec := telemetrytest.Recorder(t)
	_, client := connected(t, rec, func(s *mcpserver.Server) error {
		paid := func(context.Context, struct{}) (string, error) { return "", nil }
		return mcpserver.AddTool(s, &mcp.Tool{Name: "pay"}, paid)
	})
	tracer := rec.TracerProvider().Tracer("workers")
	ctx, request := tracer.Start(t.Context(), "POST /orders")
	job := Job{Tool: "pay"}
	enqueue(ctx, &job)
	request.End()

	ctx, span := begin(t.Context(), tracer, job)
	if got, err := work(ctx, client, job); got != Done {
		t.Errorf("got %s and %v", got, err)
	}
	span.End()
	rec.AssertOneTrace(`
		CONSUMER job pay
		  CLIENT tools/call pay
		    SERVER tools/call pay`)
	links := rec.Span("job pay").Links()
	if len(links) != 1 || links[0].SpanContext.SpanID() != request.SpanContext().SpanID() {
		t.Errorf("got the links %v, want one to the request", links)
	}
}

func TestGuideWorkerResumesATask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := 0
		_, client := connected(t, telemetrytest.Recorder(t), func(s *mcpserver.Server) error {
			return mcpserver.AddTool(s, &mcp.Tool{Name: "train"}, func(ctx context.Context, _ struct{}) (string, error) {
				began++
				select {
				case <-time.After(30 * time.Minute):
					return "trained", nil
				case <-ctx.Done():
					return "", ctx.Err()
				}
			}, mcpserver.TaskTool())
		})
		job := Job{Tool: "train"}
		save := func(task string) { job.Task = task }
		ctx, killed := context.WithTimeout(t.Context(), time.Minute)
		defer killed()
		task, err := client.StartTool(ctx, job.Tool, nil)
		if err != nil {
			t.Fatal(err)
		}
		save(task.ID()) // the first worker ends here
		result, err := finish(t.Context(), client, job, save)
		if err != nil || result.Text() != "trained" || began != 1 {
			t.Errorf("got %v and %v, begun %d times", result, err, began)
		}
		job.Task = ""
		if result, err := finish(t.Context(), client, job, save); err != nil || result.Text() != "trained" || job.Task == "" {
			t.Errorf("a new job: got %v and %v, kept %q", result, err, job.Task)
		}
		_ = client.Close()
	})
}

func TestGuideEnrichRunsEightCallsAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, client := connected(t, telemetrytest.Recorder(t), func(s *mcpserver.Server) error {
			return mcpserver.AddTool(s, &mcp.Tool{Name: "forecast"}, func(_ context.Context, in Query) (string, error) {
				time.Sleep(time.Second) // fake time in the bubble
				if in.City == "Atlantis" {
					return "", errors.New("there is no such city")
				}
				return "sunny", nil
			})
		})
		cities := make(chan string)
		go func() {
			defer close(cities)
			for i := range 23 {
				cities <- fmt.Sprint("city ", i)
			}
			cities <- "Atlantis"
		}()
		var mu sync.Mutex
		told := map[string]int{}
		begun := time.Now()
		enrich(t.Context(), client, cities, func(_, sky string) {
			mu.Lock()
			defer mu.Unlock()
			told[sky]++
		})
		if took := time.Since(begun); told["sunny"] != 23 || told["unknown"] != 1 || took != 3*time.Second {
			t.Errorf("got %v in %v, want 23 and one in three seconds", told, took)
		}
		_ = client.Close()
	})
}

func TestGuidePageFollowsACall(t *testing.T) {
	server := mcptest.NewServer(t, &mcpserver.Options{Telemetry: telemetry.Off()})
	index := func(ctx context.Context, _ struct{}) (string, error) {
		err := mcpserver.RequestFrom(ctx).Progress(ctx, 1, 2, "half of it")
		return "2 files", err
	}
	if err := mcpserver.AddTool(server.Server, &mcp.Tool{Name: "index"}, index); err != nil {
		t.Fatal(err)
	}
	client, err := mcpclient.Connect(t.Context(), server, &mcpclient.Options{Telemetry: telemetry.Off()})
	if err != nil {
		t.Fatal(err)
	}
	page := httptest.NewRecorder()
	progress(client)(page, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/progress", nil))
	if want := "data: 1\n\nevent: done\ndata: 2 files\n\n"; page.Body.String() != want {
		t.Errorf("got %q, want %q", page.Body, want)
	}
	if err := client.Close(); err != nil {
		t.Error(err)
	}
	page = httptest.NewRecorder()
	progress(client)(page, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/progress", nil))
	if !strings.HasPrefix(page.Body.String(), "event: failed\n") {
		t.Errorf("of a client that is stopped: got %q", page.Body)
	}
}
