package examples

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
)

// The code in docs/guides/scale-out.md.

// docs:keys

// stateKeys parses the value of Options.StateKeys: keys of 64 hexadecimal digits, the newest first. "openssl rand -hex
// 32" generates a key.
func stateKeys(text string) (keys [][]byte, err error) {
	for word := range strings.FieldsSeq(text) {
		key, err := hex.DecodeString(word)
		if err != nil || len(key) != 32 {
			return nil, fmt.Errorf("key %d is not 64 hexadecimal digits", len(keys)+1) // does not contain the key
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// docs:end

func TestGuideReadsStateKeys(t *testing.T) {
	keys, err := stateKeys(strings.Repeat("01", 32) + "\n" + strings.Repeat("ab", 32) + "\n")
	if err != nil || len(keys) != 2 || !bytes.Equal(keys[1], bytes.Repeat([]byte{0xab}, 32)) {
		t.Errorf("got %x and %v", keys, err)
	}
	for _, text := range []string{"secret", strings.Repeat("01", 31), strings.Repeat("01", 33)} {
		if _, err := stateKeys(text); err == nil || strings.Contains(err.Error(), text) {
			t.Errorf("%s: got %v, want an error without the key", text, err)
		}
	}
}
