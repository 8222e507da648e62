package instrument_test

import (
	"strings"
	"testing"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
)

func TestFrameHashRevealsNoContent(t *testing.T) {
	rec := telemetrytest.Recorder(t)
	c := instrument.NewClient(rec.Telemetry(), "files", pipe)
	defer c.Close()
	envelope := `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"`
	for _, frame := range []string{envelope + "secret", envelope + "another", `{"jsonrpc":"1.0"}`, ""} {
		c.Violation(instrument.Violation{Reason: "invalid_json", Direction: telemetry.DirectionReceived, Size: 1,
			Head: []byte(frame)})
	}
	var hashes []string
	for _, r := range rec.Logs("mcp_client.protocol.violation") {
		hashes = append(hashes, r.Text("mcp_client.frame.head_hash"))
		for key, v := range r.Attrs {
			if strings.Contains(v.String(), "secret") || strings.Contains(v.String(), "jsonrpc") {
				t.Errorf("the record of a frame contains a part of the frame: %s = %v", key, v)
			}
		}
	}
	if hashes[0] != hashes[1] || hashes[0] == hashes[2] || len(hashes[0]) != 8 || hashes[3] != "" {
		t.Errorf("hashes of two frames with the same beginning, of another frame and of none: got %q", hashes)
	}
}
