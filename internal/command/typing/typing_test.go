package typing

import "testing"

func TestHintsSuggestSimilarWords(t *testing.T) {
	known := []string{"forecast", "divide", "wait"}
	for name, want := range map[string]string{
		"forcast": " (did you mean forecast?)", "Divide": " (did you mean divide?)", "wa": " (did you mean wait?)",
		"radar": "", "": "",
	} {
		if got := Hint(name, known); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}
