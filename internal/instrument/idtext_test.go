package instrument

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

func TestIDTextsAreNotOverwritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ids := rapid.SliceOf(rapid.SliceOfN(rapid.Byte(), 0, idBlock+10)).Draw(t, "ids")
		texts := make([]string, len(ids))
		for i, id := range ids {
			own := bytes.Clone(id)
			texts[i] = idText(own)
			clear(own)
		}
		for i, id := range ids {
			if texts[i] != string(id) {
				t.Fatalf("text %d: got %q, want %q", i, texts[i], id)
			}
		}
	})
}
