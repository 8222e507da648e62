package mcpclient

import (
	"testing"
	"testing/synctest"

	"github.com/mcpotel/mcpotel/mcp"
	"github.com/mcpotel/mcpotel/mcpclient/telemetry/telemetrytest"
)

func TestTheStreamOfASubscriptionOfAStoppedClientEndsInOrder(t *testing.T) {
	rec := telemetrytest.Recorder(t)
	o := &Options{Telemetry: rec.Telemetry(),
		Features: []Feature{HandleNotification(mcp.NotificationToolListChanged, heard(new(int)))}}
	bubble(t, o, func(t *testing.T, s *script, c *Client) {
		v := s.next(t)
		v.Answer(v.Expect(mcp.MethodDiscover), announcing)
		v.acknowledge(v.Expect(mcp.MethodSubscriptionsListen))
		synctest.Wait()
	})
	points := rec.Points("mcp_client.stream.duration")
	if len(points) != 1 || points[0].Attrs.HasValue("error.type") {
		t.Errorf("the durations of streams are %+v, want one without error.type", points)
	}
	if got := rec.Log("mcp_client.stream.closed").Text("error.type"); got != "" {
		t.Errorf("the record of the end has error.type %q, want none", got)
	}
}
