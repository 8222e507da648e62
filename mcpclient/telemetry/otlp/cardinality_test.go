package otlp

import "testing"

func TestCardinalityLimitCoversClients(t *testing.T) {
	for variable, want := range map[string]int{"": 2000, "100": 100, "many": 2000, " 5000 ": 5000, "0": 0, "-1": -1} {
		got := setLimit(func(key string) string {
			if key != "OTEL_GO_X_CARDINALITY_LIMIT" {
				t.Errorf("variable: got %q", key)
			}
			return variable
		})
		if got != want {
			t.Errorf("limit with %q: got %d, want %d", variable, got, want)
		}
	}
}
