package mcpotel_test

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/mcpotel/mcpotel"

// arrows says which packages of this module each package may import, directly or through others. Whoever adds a package
// decides here where it stands.
var arrows = map[string][]string{
	"internal/jsonscan":          {},
	"internal/jsonscan/jsontest": {"internal/jsonscan"},
	"internal/jsonrpc":           {"internal/jsonscan"},
	"internal/mirror":            {"internal/jsonscan"},
	"internal/ndjson":            {},
	"internal/sse":               {},
	"internal/schema":            {},
	"internal/promname":          {"mcpclient/telemetry", "mcpclient/connstate"},
	"internal/schemacheck":       {"mcpclient/telemetry", "mcpclient/connstate"},
	"internal/otlpcheck":         {"mcpclient/telemetry", "mcpclient/connstate", "internal/schemacheck", "internal/otlpsink", "internal/waterfall", "internal/unit", "internal/loopback"},
	"internal/unseen":            {"mcpclient/telemetry", "mcpclient/connstate", "internal/schemacheck"},
	"internal/otlpsink":          {"internal/loopback", "internal/waterfall", "internal/unit"},
	"internal/loopback":          {},
	"internal/unit":              {},
	"internal/waterfall":         {"internal/unit"},
	"internal/page":              {"internal/unit"},
	"internal/dashboard":         {},
	"dashboards":                 {}, // tests only
	"internal/traceview":         {"internal/loopback", "internal/otlpsink", "internal/page", "internal/unit", "internal/waterfall"},

	"mcp": {"internal/jsonscan", "internal/jsonrpc"},

	"inspect":          {"mcp", "internal/jsonscan", "internal/jsonrpc", "mcpclient/connstate", "mcpclient/telemetry"},
	"internal/running": {"inspect", "mcp", "internal/jsonscan", "internal/jsonrpc", "mcpclient/connstate", "mcpclient/telemetry"},
	"inspect/debugpage": {
		"inspect", "internal/running", "internal/loopback", "internal/page", "internal/unit",
		"mcp", "internal/jsonscan", "internal/jsonrpc", "mcpclient/connstate", "mcpclient/telemetry",
	},

	"mcpclient/connstate":               {},
	"mcpclient/internal/machine":        {"mcpclient/connstate"},
	"mcpclient/internal/inflight":       {},
	"mcpclient/transport":               {"internal/ndjson", "internal/sse", "internal/mirror", "internal/jsonrpc", "internal/jsonscan"},
	"mcpclient/transport/transporttest": {"internal/ndjson", "internal/sse", "internal/mirror", "internal/jsonrpc", "internal/jsonscan", "mcpclient/transport"},
	"mcpclient/telemetry":               {"mcpclient/connstate"},
	"mcpclient/telemetry/names":         {},
	"mcpclient/telemetry/telemetrytest": {"mcpclient/telemetry", "mcpclient/connstate", "internal/schemacheck"},
	"mcpclient/telemetry/otlp":          {"mcpclient/telemetry", "mcpclient/connstate"},

	"mcpclient/auth/internal/metadata":  {},
	"mcpclient/auth/internal/challenge": {},
	"mcpclient/auth/internal/dpop":      {},
	"mcpclient/auth/internal/assertion": {},
	"mcpclient/auth": {
		"mcpclient/auth/internal/metadata", "mcpclient/auth/internal/challenge", "mcpclient/auth/internal/dpop",
		"mcpclient/auth/internal/assertion", "mcpclient/telemetry", "mcpclient/connstate",
	},

	"mcpclient": {
		"mcp", "internal/jsonscan", "internal/jsonrpc", "internal/mirror", "internal/running", "inspect", "internal/ndjson", "internal/schema", "internal/sse",
		"mcpclient/connstate", "mcpclient/internal/machine", "mcpclient/internal/inflight", "mcpclient/transport", "mcpclient/telemetry",
	},
	"mcpclient/config": {
		"mcp", "internal/jsonscan", "internal/jsonrpc", "internal/mirror", "internal/running", "inspect", "internal/ndjson", "internal/schema", "internal/sse",
		"mcpclient/connstate", "mcpclient/internal/machine", "mcpclient/internal/inflight", "mcpclient/transport", "mcpclient/telemetry",
		"mcpclient",
	},
	"mcpserver": {
		"mcp", "internal/jsonscan", "internal/jsonrpc", "internal/mirror", "internal/running", "inspect", "internal/ndjson", "internal/schema", "internal/sse",
		"mcpclient/connstate", "mcpclient/telemetry", "mcpserver/internal/identity",
	},
	"mcpserver/storetest": {
		"mcpserver", "mcp", "internal/jsonscan", "internal/jsonrpc", "internal/mirror", "internal/running", "inspect", "internal/ndjson", "internal/schema", "internal/sse",
		"mcpclient/connstate", "mcpclient/telemetry", "mcpserver/internal/identity",
	},
	"mcpserver/taskstoretest": {
		"mcp", "internal/jsonscan", "internal/jsonrpc", "internal/mirror", "internal/running", "inspect", "internal/ndjson", "internal/schema", "internal/sse",
		"mcpclient/connstate", "mcpclient/telemetry", "mcpserver/internal/identity", "mcpserver",
	},
	"mcpserver/bearer":            {"mcpserver/internal/identity"},
	"mcpserver/internal/identity": {},
}

// anywhere are the packages that may import whatever they like: nothing imports them.
var anywhere = []string{"cmd/", "examples/", "benchmarks", "examples", "internal/testsupport", "testenv/quirks", "testenv/trouble", "testenv/wire"}

// foreign says which modules outside the standard library each package may import directly.
var foreign = map[string][]string{
	"internal/schema":                   {"github.com/google/jsonschema-go", "github.com/go-json-experiment/json"},
	"internal/otlpsink":                 {"go.opentelemetry.io/proto/otlp", "google.golang.org/grpc", "google.golang.org/protobuf"},
	"internal/ndjson":                   {"golang.org/x/sys"},
	"mcp":                               {"github.com/go-json-experiment/json"},
	"mcpclient":                         {"github.com/go-json-experiment/json"},
	"mcpclient/config":                  {"github.com/go-json-experiment/json"},
	"mcpserver":                         {"github.com/go-json-experiment/json", "github.com/yosida95/uritemplate/v3"},
	"mcpserver/bearer":                  {"github.com/go-json-experiment/json", "github.com/go-jose/go-jose/v4"},
	"mcpclient/transport":               {"golang.org/x/sys"},
	"mcpclient/transport/transporttest": {"golang.org/x/sys"},
	"mcpclient/auth":                    {"golang.org/x/oauth2"},
	"mcpclient/auth/internal/metadata":  {"github.com/go-json-experiment/json"},
	"mcpclient/auth/internal/dpop":      {"github.com/go-jose/go-jose/v4"},
	"mcpclient/auth/internal/assertion": {"github.com/go-jose/go-jose/v4"},
	"mcpclient/telemetry":               telemetryAPI,
	"mcpclient/telemetry/telemetrytest": append([]string{"go.opentelemetry.io/otel/sdk"}, telemetryAPI...),
	"mcpclient/telemetry/otlp": append([]string{
		"go.opentelemetry.io/otel/sdk", "go.opentelemetry.io/otel/exporters", "go.opentelemetry.io/otel/log",
		"go.opentelemetry.io/contrib/bridges/otelslog", "github.com/lmittmann/tint", "golang.org/x/term", "google.golang.org/grpc",
	}, telemetryAPI...),
}

// telemetryAPI is the OpenTelemetry API: what a library may import. Prefixes end where a path element ends.
var telemetryAPI = []string{
	"go.opentelemetry.io/otel=", "go.opentelemetry.io/otel/attribute", "go.opentelemetry.io/otel/baggage",
	"go.opentelemetry.io/otel/codes", "go.opentelemetry.io/otel/metric", "go.opentelemetry.io/otel/propagation",
	"go.opentelemetry.io/otel/semconv", "go.opentelemetry.io/otel/trace",
}

// TestPackagesImportOnlyWhatTheArrowsAllow holds the layout of docs/ARCHITECTURE.md against the code.
func TestPackagesImportOnlyWhatTheArrowsAllow(t *testing.T) {
	for _, p := range listPackages(t) {
		name := strings.TrimPrefix(p.path, module+"/")
		if name == module || slices.ContainsFunc(anywhere, func(prefix string) bool { return strings.HasPrefix(name, prefix) }) {
			continue
		}
		allowed, known := arrows[name]
		if !known {
			t.Errorf("package %s stands in no row of arrows", name)
			continue
		}
		for _, dep := range p.deps {
			if own, ok := strings.CutPrefix(dep, module+"/"); ok && !slices.Contains(allowed, own) {
				t.Errorf("%s imports %s, want only %v", name, own, allowed)
			}
		}
		for _, dep := range p.imports {
			if isForeign(dep) && !slices.ContainsFunc(foreign[name], func(m string) bool { return within(dep, m) }) {
				t.Errorf("%s imports %s, want only %v from outside", name, dep, foreign[name])
			}
		}
	}
}

// TestOnlyTheLeafPackageNeedsTheSDK keeps the SDK, the exporters and gRPC out of what a user of the library links.
func TestOnlyTheLeafPackageNeedsTheSDK(t *testing.T) {
	heavy := []string{"go.opentelemetry.io/otel/sdk", "go.opentelemetry.io/otel/exporters", "google.golang.org/grpc"}
	library := []string{module + "/mcp", module + "/mcpclient", module + "/mcpserver", module + "/mcpclient/telemetry", module + "/mcpclient/transport"}
	for _, p := range listPackages(t) {
		if !slices.Contains(library, p.path) {
			continue
		}
		for _, dep := range p.deps {
			if slices.ContainsFunc(heavy, func(m string) bool { return within(dep, m) }) {
				t.Errorf("%s depends on %s, want the OpenTelemetry API only", p.path, dep)
			}
		}
	}
}

type pkg struct {
	path          string
	imports, deps []string
}

func listPackages(t *testing.T) []pkg {
	t.Helper()
	format := `{{.ImportPath}}|{{join .Imports ","}}|{{join .Deps ","}}`
	cmd := exec.CommandContext(t.Context(), "go", "list", "-f", format, "./...")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []pkg
	for line := range strings.Lines(string(out)) {
		f := strings.SplitN(strings.TrimSpace(line), "|", 3)
		all = append(all, pkg{f[0], strings.Split(f[1], ","), strings.Split(f[2], ",")})
	}
	return all
}

// isForeign reports whether path is neither of this module nor of the standard library.
func isForeign(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return strings.Contains(first, ".") && !within(path, module)
}

// within reports whether path is prefix or below it; a prefix that ends with = is meant exactly.
func within(path, prefix string) bool {
	if exact, ok := strings.CutSuffix(prefix, "="); ok {
		return path == exact
	}
	return path == prefix || strings.HasPrefix(path, prefix+"/")
}
