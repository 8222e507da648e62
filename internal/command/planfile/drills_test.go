package planfile

import (
	"slices"
	"strings"
	"testing"
)

func TestDrillsParsesAPlan(t *testing.T) {
	all, err := Drills([]byte("alerts:\n- alert: Mine\n  as: MCPClientSlow\n- alert: MCPToolLoop\n" +
		"- alert: Flaky\n  every: 2s\n  faults: [{kind: error, probability: 0.5}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, d := range all {
		names = append(names, d.Alert)
	}
	if !slices.Equal(names, []string{"Mine", "MCPToolLoop", "Flaky"}) {
		t.Errorf("got drills for %q", names)
	}
	for text, want := range map[string]string{
		"":                              "the plan has no alerts",
		"alerts: []":                    "the plan has no alerts",
		"alert: [{}]":                   "unknown key alert",
		"alerts:\n- {}":                 "line 2: alert is missing",
		"alerts: [{alert: Mine}]":       "Mine has no cause: set as to an alert of the dashboards, or list faults to inject",
		"alerts: [{alert: MCPToolLop}]": "did you mean MCPToolLoop?",
		"alerts:\n- {alert: A, as: MCPToolLoop}\n- {alert: A, as: MCPToolLoop}": "line 3: the plan contains the alert A " +
			"twice",
		"alerts: [{alert: A, as: Rain}]":                                `the dashboards have no alert "Rain"`,
		"alerts: [{alert: A, as: MCPToolLoop, every: 1s}]":              "every is only allowed with faults",
		"alerts: [{alert: A, as: MCPToolLoop, faults: [{kind: drop}]}]": "as and faults exclude each other",
		"alerts: [{alert: A, faults: [{kind: rain}]}]":                  "fault 1, rain: kind",
	} {
		if _, err := Drills([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
}
