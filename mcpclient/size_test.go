package mcpclient_test

import (
	"testing"
	"unsafe"

	"github.com/mcpotel/mcpotel/internal/instrument"
	"github.com/mcpotel/mcpotel/mcpclient"
)

// Go's allocator has few sizes, and adds 8 bytes to values above 512 bytes that contain pointers. One byte more than
// these sizes would cost each client another 128 or 32 bytes.
func TestClientStructsFitAllocatorSizeClasses(t *testing.T) {
	for name, size := range map[string]struct{ got, most uintptr }{
		"Client":            {unsafe.Sizeof(mcpclient.Client{}), 896 - 8},
		"instrument.Client": {unsafe.Sizeof(instrument.Client{}), 448},
	} {
		if size.got > size.most {
			t.Errorf("%s: got %d bytes, want at most %d", name, size.got, size.most)
		}
	}
}
