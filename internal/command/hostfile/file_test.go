package hostfile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mcpotel/mcpotel/internal/command/userfile"
)

func TestAFileOfAnotherUserIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mcp.json")
	if err := os.WriteFile(path, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 { // root can change the owner of a file
		if err := os.Chown(path, 12345, -1); err != nil {
			t.Fatal(err)
		}
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, known := userfile.Owner(info); !known {
		return // this system does not report owners
	}
	const want = "the file belongs to another user, uid "
	if err := onlyMine(info, os.Geteuid()+1); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("as another user: got %v, want %s…", err, want)
	}
}
