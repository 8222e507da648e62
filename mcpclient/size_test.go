package mcpclient_test

import (
	"testing"
	"unsafe"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/mcpclient"
)

// Go's allocator has few sizes, and whatever holds a pointer and is larger than 512 bytes has 8 bytes in front of it: a
// byte more than this costs each client another 128 or 32.
func TestAClientFillsTheSizesThatAreAllocated(t *testing.T) {
	for name, size := range map[string]struct{ got, most uintptr }{
		"Client":            {unsafe.Sizeof(mcpclient.Client{}), 896 - 8},
		"instrument.Client": {unsafe.Sizeof(instrument.Client{}), 448},
	} {
		if size.got > size.most {
			t.Errorf("%s: got %d bytes, want %d at most", name, size.got, size.most)
		}
	}
}
