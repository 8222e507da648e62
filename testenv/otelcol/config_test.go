package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/provider/envprovider"
	"go.opentelemetry.io/collector/confmap/provider/fileprovider"
	"go.opentelemetry.io/collector/otelcol"
)

// shipped are the configurations that work without another file.
var shipped = []string{"minimal.yaml", "agent.yaml", "gateway.yaml"}

// overlays maps each overlay to the file that it extends.
var overlays = map[string]string{
	"agent-kafka.yaml":          "agent.yaml",
	"agent-loadbalancing.yaml":  "agent.yaml",
	"gateway-kafka.yaml":        "gateway.yaml",
	"gateway-servicegraph.yaml": "gateway.yaml",
}

// shippedFile returns the path of a file in the project's directory collector.
func shippedFile(name string) string { return filepath.Join("..", "..", "collector", name) }

func readShipped(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(shippedFile(name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// inQueueDir gives the configurations a temporary directory for their queue.
func inQueueDir(t *testing.T) {
	t.Setenv("MCPOTEL_AGENT_QUEUE_DIR", t.TempDir())
	t.Setenv("MCPOTEL_GATEWAY_QUEUE_DIR", t.TempDir())
}

// validate runs `otelcol validate --config FILE ...`.
func validate(files ...string) error {
	command := otelcol.NewCommand(otelcol.CollectorSettings{
		BuildInfo: component.BuildInfo{Command: "otelcol", Version: "0.158.0"},
		Factories: components,
		ConfigProviderSettings: otelcol.ConfigProviderSettings{ResolverSettings: confmap.ResolverSettings{
			ProviderFactories: []confmap.ProviderFactory{envprovider.NewFactory(), fileprovider.NewFactory()},
		}},
	})
	args := []string{"validate"}
	for _, f := range files {
		args = append(args, "--config", f)
	}
	command.SetArgs(args)
	command.SetOut(io.Discard)
	command.SetErr(io.Discard)
	command.SilenceUsage = true
	return command.Execute()
}

func TestShippedConfigurationsAreValid(t *testing.T) {
	for _, name := range shipped {
		t.Run(name, func(t *testing.T) {
			inQueueDir(t)
			if err := validate(shippedFile(name)); err != nil {
				t.Errorf("the Collector should accept %s: %v", name, err)
			}
		})
	}
}

func TestOverlaysAreValidOnTheirBases(t *testing.T) {
	for overlay, base := range overlays {
		t.Run(overlay, func(t *testing.T) {
			inQueueDir(t)
			if err := validate(shippedFile(base), shippedFile(overlay)); err != nil {
				t.Errorf("the Collector should accept %s on top of %s: %v", overlay, base, err)
			}
		})
	}
}

// TestValidationSeesMistakes proves that the tests above can fail. Some mistakes escape validation, such as a wrong
// type of a sampling policy; the tests of testenv/stack find them, because they run the files.
func TestValidationSeesMistakes(t *testing.T) {
	for _, mistake := range []struct{ file, correct, wrong, says string }{
		{"minimal.yaml", "verbosity:", "verbosty:", "verbosty"},
		{"agent.yaml", "processors: [memory_limiter, transform/scrub]", "processors: [memory_limiter, transform/scrap]",
			"transform/scrap"},
		{"agent.yaml", "storage: file_storage/queue", "storages: file_storage/queue", "storages"},
		{"agent.yaml", "- delete_key(attributes, \"gen_ai.tool.call.result\")",
			"- delete_kee(attributes, \"gen_ai.tool.call.result\")", "delete_kee"},
		{"gateway.yaml", "latency: {threshold_ms:", "latency: {threshold:", "threshold"},
		{"gateway.yaml", "unit: s", "unit: h", "unit"},
		{"gateway.yaml", "- span.attributes[\"mcp.method.name\"] == \"ping\"",
			"- span.attribute[\"mcp.method.name\"] == \"ping\"", "attribute"},
	} {
		t.Run(mistake.wrong, func(t *testing.T) {
			inQueueDir(t)
			text := readShipped(t, mistake.file)
			if !strings.Contains(text, mistake.correct) {
				t.Fatalf("%s no longer has %q", mistake.file, mistake.correct)
			}
			broken := filepath.Join(t.TempDir(), mistake.file)
			if err := os.WriteFile(broken, []byte(strings.ReplaceAll(text, mistake.correct, mistake.wrong)), 0o600); err != nil {
				t.Fatal(err)
			}
			err := validate(broken)
			if err == nil {
				t.Fatalf("the Collector accepts %s with %q", mistake.file, mistake.wrong)
			}
			if !strings.Contains(err.Error(), mistake.says) {
				t.Errorf("the Collector should name %q, it says: %v", mistake.says, err)
			}
		})
	}
}
