package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// silent starts a server that reads requests and never answers.
func silent(t *testing.T) (url string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // otherwise the server does not notice that the client disconnects
		<-r.Context().Done()
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func TestTimeoutsNameTheirFlag(t *testing.T) {
	noCollector(t)
	url := silent(t)
	for flag, value := range map[string]string{"--timeout": "50ms", "--connect-timeout": "51ms"} {
		for _, command := range []string{"tools", "ping", "resources"} {
			code, _, stderr := runs(t, command, "--url", url, flag, value)
			if code != exitConnection || !strings.Contains(stderr, "; "+flag+" "+value+" has expired") {
				t.Errorf("%s %s %s: got exit code %d and %q, want %d and the name of the expired timeout", command, flag, value,
					code, stderr, exitConnection)
			}
		}
	}
}

// TestTotalTimeoutExcludesQuestionsToTheUser runs steps that exceed --timeout only in total, with two hours of
// questions in between.
func TestTotalTimeoutExcludesQuestionsToTheUser(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := connection{timeout: 10 * time.Second}
		c.console = newConsole(streams{strings.NewReader(""), io.Discard, io.Discard, true})
		begun := time.Now()
		err := c.inTime(t.Context(), func(ctx context.Context) error {
			for range 3 {
				select {
				case <-time.After(4 * time.Second):
				case <-ctx.Done():
					return ctx.Err()
				}
				back := c.console.elsewhere() // the person is busy in another program, such as a browser
				time.Sleep(time.Hour)
				back()
			}
			return errors.New("the timeout did not expire")
		})
		const want = "context deadline exceeded; --timeout 10s has expired"
		if took := time.Since(begun); err == nil || err.Error() != want || took != 2*time.Hour+10*time.Second {
			t.Errorf("got %v after %v, want %q after 10s plus the two hours", err, took, want)
		}
		c.endless = true
		if err := c.inTime(t.Context(), func(ctx context.Context) error {
			time.Sleep(time.Hour)
			return ctx.Err()
		}); err != nil {
			t.Errorf("an endless command: got %v, want no limit", err)
		}
	})
}
