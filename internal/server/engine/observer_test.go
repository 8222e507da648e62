package engine_test

import (
	"errors"
	"runtime"
	"testing"

	"github.com/mcpotel/mcpotel/internal/server/engine"
	"github.com/mcpotel/mcpotel/internal/usercode"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
)

func TestUserCodeFailureIsCounted(t *testing.T) {
	rec := telemetrytest.Recorder(t)
	s := engine.New(&engine.Options{Name: "lighthouse", Telemetry: rec.Telemetry()}, new(lighthouse))
	for _, fail := range []func(){func() { panic("oops") }, runtime.Goexit} {
		err := s.Apart(t.Context(), "store.Events.Append", fail)
		if _, ok := errors.AsType[*usercode.Failure](err); !ok {
			t.Errorf("got the error %v, want the failure", err)
		}
	}
	if err := s.Apart(t.Context(), "store.Events.Append", func() {}); err != nil {
		t.Errorf("got the error %v of code that returned", err)
	}
	if n := rec.Value("mcp_server.handler.panics"); n != 2 {
		t.Errorf("%d failures counted, want 2", n)
	}
}
