package instrument_test

import (
	"strconv"
	"testing"

	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
)

// Every JSON-RPC error is an error for the sender of the request. Five codes are not errors for the receiver, because
// the request was faulty. (semantic conventions for MCP, error.type)
func TestEveryErrorCodeIsErrorForSender(t *testing.T) {
	requestErrorCodes := map[int64]bool{-32700: true, -32600: true, -32601: true, -32602: true, -32002: true}
	codes := []int64{-1, 0, 1, 32700, 1 << 62, -1 << 62, -32604, -32599, -32701, -32001, -32003, -32020, -32021, -32022,
		-32042}
	for code := int64(-32603); code <= -32600; code++ {
		codes = append(codes, code)
	}
	for _, code := range append(codes, -32700, -32002) {
		checkCode(t, code, !requestErrorCodes[code])
	}
}

func checkCode(t *testing.T, code int64, receiverFails bool) {
	t.Helper()
	rec := telemetrytest.Recorder(t)
	c, s := instrument.NewClient(rec.Telemetry(), "c", pipe), instrument.NewServer(rec.Telemetry(), "s", pipe)
	defer c.Close()
	defer s.Close()
	r := instrument.Result{Code: code, HasCode: true, Message: "no"}
	_, sent := c.StartRequest(t.Context(), instrument.Request{Method: "tools/list"})
	_, received := s.StartHandler(t.Context(), instrument.Incoming{Method: "tools/list", ID: "1"})
	received.End(r)
	sent.End(r)

	spans := rec.Spans()
	checkSide(t, rec, spans[0], "mcp.server.operation.duration", "mcp_server.request", code, receiverFails)
	checkSide(t, rec, spans[1], "mcp.client.operation.duration", "mcp_client.request", code, true)
}

func checkSide(t *testing.T, rec *telemetrytest.Recording, span sdktrace.ReadOnlySpan, metric, life string, code int64,
	fails bool) {
	t.Helper()
	text := strconv.FormatInt(code, 10)
	errorType, status, event := "", codes.Unset, life+".stop"
	if fails {
		errorType, status, event = text, codes.Error, life+".exception"
	}
	if got := span.Status().Code; got != status {
		t.Errorf("status of %s with code %d: got %v, want %v", life, code, got, status)
	}
	sample := texts(rec.Points(metric)[0].Attrs.ToSlice())
	for where, got := range map[string]map[string]string{"span": texts(span.Attributes()), "metric": sample} {
		if got["error.type"] != errorType || got["rpc.response.status_code"] != text {
			t.Errorf("the %s of %s with code %d: got %v, want error.type %q and the code", where, life, code, got, errorType)
		}
	}
	if got := rec.Log(event); got.Text("rpc.response.status_code") != text || got.Text("error.type") != errorType {
		t.Errorf("the record of %s with code %d: got %v, want error.type %q and the code", life, code, got.Attrs, errorType)
	}
}
