package receiver

import (
	"testing"

	"github.com/prometheus/common/model"
	"pgregory.net/rapid"
)

// TestFingerprintsAreThoseOfPrometheus compares our fingerprint with that of the library of Prometheus and Alertmanager.
func TestFingerprintsAreThoseOfPrometheus(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		labels := rapid.MapOf(rapid.String(), rapid.String()).Draw(t, "labels")
		want := model.LabelSet{}
		for name, value := range labels {
			want[model.LabelName(name)] = model.LabelValue(value)
		}
		if got := fingerprint(labels); got != want.Fingerprint().String() {
			t.Fatalf("%q: got %s, want %s", labels, got, want.Fingerprint())
		}
	})
}
