package chaos

import (
	"context"
	"io"
	"os"
	"testing"

	"github.com/mcpotel/mcpotel/mcpclient/transport"
)

// echoVariable is an environment variable. If it is set, the test binary copies its input to its output.
const echoVariable = "CHAOS_TEST_ECHO"

func TestMain(m *testing.M) {
	if os.Getenv(echoVariable) != "" {
		_, _ = io.Copy(os.Stdout, os.Stdin)
		return
	}
	os.Exit(m.Run())
}

// nothing is a server that ends at once.
func nothing(context.Context, *transport.Peer) {}
