package instrument_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/mcpclient/connstate"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/names"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
)

// The redactor gets every text to which a server may have contributed, and can replace it with an empty text.
func TestRedactorSeesEveryErrorText(t *testing.T) {
	const secret = "SECRET-42"
	for _, keep := range []bool{true, false} {
		t.Run(fmt.Sprint("keep ", keep), func(t *testing.T) {
			rec := telemetrytest.Recorder(t, telemetry.WithContentCapture(func(_ context.Context, c telemetry.Content) (string,
				bool) {
				if c.Kind != telemetry.ContentErrorMessage || c.Side != telemetry.SideClient || c.Method != "" {
					t.Errorf("want the text of an error outside of requests, got %+v", c)
				}
				return string(c.Data), keep
			}))
			c := instrument.NewClient(rec.Telemetry(), "files", network)
			defer c.Close()
			err := errors.New(secret)
			_, attempt := c.StartAttempt(t.Context(), instrument.AttemptStart{Number: 1})
			attempt.End(err)
			c.Transition(instrument.Transition{
				Transition: connstate.Transition{
					From: connstate.Initializing, To: connstate.Backoff, Reason: connstate.ReasonTransportDown,
					Attempt: 1, Epoch: 1, Duration: time.Second,
				},
				Attempt: attempt.Ref(), Err: err,
			})
			c.CloseFailed(err)
			c.ListsUncached(err)
			c.OutputUnchecked("search", err)
			c.ToolRejected("search", err)
			c.SubscriptionLost("file:///etc/motd", err)
			c.StreamOpened(names.StreamGet)(err)
			callerCount := 0
			for _, r := range rec.Logs("") {
				callerCount += strings.Count(fmt.Sprint(r.Message, r.Attrs), secret)
			}
			for _, s := range rec.Spans() {
				callerCount += strings.Count(fmt.Sprint(s.Status().Description, s.Attributes()), secret)
			}
			if want := map[bool]int{true: 9, false: 0}[keep]; callerCount != want {
				t.Errorf("want the text %d times, got %d", want, callerCount)
			}
		})
	}
}
