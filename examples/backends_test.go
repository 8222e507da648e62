package examples

import (
	"context"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/mcpotel/mcpotel/mcpclient/telemetry/otlp"
)

// TestSetupAcceptsTheVariablesOfTheBackends sets up telemetry with each block in docs/guides/backends.md. It exports
// nothing, because the context of Shutdown has ended.
func TestSetupAcceptsTheVariablesOfTheBackends(t *testing.T) {
	page, err := os.ReadFile("../docs/guides/backends.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?m)^```sh\n((?:export .*\n)+)```$").FindAllStringSubmatch(string(page), -1)
	if len(blocks) < 8 {
		t.Fatalf("found %d blocks, want one for each backend", len(blocks))
	}
	for _, block := range blocks {
		t.Run(block[1], func(t *testing.T) {
			cmd := exec.Command("bash", "-eu", "-c", block[1]+"env -0")
			variables, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			for variable := range strings.SplitSeq(string(variables), "\x00") {
				if name, value, _ := strings.Cut(variable, "="); strings.HasPrefix(name, "OTEL_") {
					t.Setenv(name, value)
				}
			}
			providers, err := otlp.Setup(t.Context(), otlp.WithGlobals(false), otlp.WithConsole(nil, nil))
			if err != nil {
				t.Fatal(err)
			}
			over, cancel := context.WithCancel(t.Context())
			cancel()
			_ = providers.Shutdown(over)
		})
	}
}
