package mcpotel_test

import (
	"os"
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
	"internal/grow":              {},
	"internal/keepalive":         {},
	"internal/hostname":          {},
	"internal/weigh":             {},
	"internal/schema":            {},
	"internal/usercode":          {},
	"internal/promname":          {"internal/usercode", "mcpclient/telemetry/schema", "mcpclient/connstate"},
	"internal/schemacheck": {"internal/usercode", "mcpclient/telemetry/names", "mcpclient/telemetry",
		"mcpclient/telemetry/schema", "mcpclient/connstate"},
	"internal/otlpcheck": {"internal/usercode", "mcpclient/telemetry/names", "mcpclient/telemetry", "mcpclient/telemetry/schema", "mcpclient/connstate", "internal/schemacheck", "internal/otlpsink", "internal/waterfall", "internal/unit", "internal/visible", "internal/loopback"},
	"internal/unseen": {"internal/usercode", "mcpclient/telemetry/names", "mcpclient/telemetry",
		"mcpclient/telemetry/schema", "mcpclient/connstate", "internal/schemacheck"},
	"internal/otlpsink":      {"internal/loopback", "internal/waterfall", "internal/unit", "internal/visible"},
	"internal/loopback":      {},
	"internal/unit":          {},
	"internal/visible":       {},
	"internal/waterfall":     {"internal/unit", "internal/visible"},
	"internal/page":          {"internal/unit", "internal/visible"},
	"internal/dashboard":     {},
	"internal/bounds":        {}, // only its own tests use it
	"internal/specification": {}, // likewise
	"internal/testnames":     {},
	"internal/house":         {"internal/testnames"},
	"dashboards":             {}, // tests only
	"internal/traceview": {"internal/loopback", "internal/otlpsink", "internal/page", "internal/unit",
		"internal/visible", "internal/waterfall"},

	"mcp":                  {"internal/jsonscan", "internal/jsonrpc"},
	"internal/given":       {"mcp", "internal/jsonscan", "internal/jsonrpc"},
	"internal/clientinput": {"mcp", "internal/hostname", "internal/jsonscan", "internal/jsonrpc"},
	"mcp/skill":            {"mcp", "internal/jsonscan", "internal/jsonrpc"},
	"mcp/app":              {"mcp", "internal/jsonscan", "internal/jsonrpc"},

	"inspect": {"internal/usercode", "mcp", "internal/jsonscan", "internal/jsonrpc", "mcpclient/connstate",
		"mcpclient/telemetry"},
	"internal/running": {"internal/usercode", "inspect", "mcp", "internal/jsonscan", "internal/jsonrpc",
		"mcpclient/connstate", "mcpclient/telemetry"},
	"inspect/debugpage": {
		"internal/usercode", "inspect", "internal/running", "internal/loopback", "internal/page", "internal/unit", "internal/visible",
		"mcp", "internal/jsonscan", "internal/jsonrpc", "mcpclient/connstate", "mcpclient/telemetry",
	},

	"mcpclient/connstate":         {},
	"mcpclient/internal/machine":  {"mcpclient/connstate"},
	"mcpclient/internal/inflight": {},
	"mcpclient/internal/waits":    {},
	"mcpclient/transport": {"internal/usercode", "internal/ndjson", "internal/sse", "internal/grow",
		"internal/mirror", "internal/jsonrpc", "internal/jsonscan", "mcpclient/internal/waits"},
	"mcpclient/transport/transporttest": {"internal/usercode", "internal/ndjson", "internal/sse", "internal/grow",
		"internal/mirror", "internal/jsonrpc", "internal/jsonscan", "mcpclient/transport", "mcpclient/internal/waits"},
	"mcpclient/telemetry/names":             {},
	"mcpclient/telemetry/internal/words":    {},
	"mcpclient/telemetry/internal/settings": {},
	"mcpclient/telemetry/schema":            {"mcpclient/connstate"},
	"mcpclient/telemetry":                   {},
	"mcpclient/telemetry/instrument": {"internal/usercode", "mcpclient/telemetry", "mcpclient/telemetry/schema",
		"mcpclient/connstate"},
	"mcpclient/telemetry/telemetrytest": {"internal/usercode", "mcpclient/telemetry/names", "mcpclient/telemetry",
		"mcpclient/telemetry/schema", "mcpclient/connstate", "internal/schemacheck"},
	"mcpclient/telemetry/otlp": {"internal/usercode", "mcpclient/telemetry", "mcpclient/connstate",
		"internal/visible"},

	"mcpclient/auth/internal/metadata":  {},
	"mcpclient/auth/internal/challenge": {},
	"mcpclient/auth/internal/dpop":      {},
	"mcpclient/auth/internal/assertion": {},
	"mcpclient/auth": {
		"internal/usercode", "mcpclient/auth/internal/metadata", "mcpclient/auth/internal/challenge", "mcpclient/auth/internal/dpop",
		"mcpclient/auth/internal/assertion", "mcpclient/telemetry", "mcpclient/telemetry/instrument", "mcpclient/telemetry/schema", "mcpclient/connstate",
	},

	"mcpclient": {
		"internal/usercode", "mcp", "internal/given", "internal/clientinput", "internal/jsonscan", "internal/jsonrpc", "internal/mirror", "internal/running", "inspect", "internal/keepalive", "internal/ndjson", "internal/schema", "internal/sse", "internal/grow",
		"mcpclient/connstate", "mcpclient/internal/machine", "mcpclient/internal/inflight", "mcpclient/internal/waits", "mcpclient/transport", "mcpclient/telemetry", "mcpclient/telemetry/instrument", "mcpclient/telemetry/schema",
	},
	"mcpclient/skills": {
		"internal/usercode", "mcp", "internal/given", "internal/clientinput", "internal/jsonscan", "internal/jsonrpc", "internal/mirror", "internal/running", "inspect", "internal/keepalive", "internal/ndjson", "internal/schema", "internal/sse", "internal/grow",
		"mcpclient/connstate", "mcpclient/internal/machine", "mcpclient/internal/inflight", "mcpclient/internal/waits", "mcpclient/transport", "mcpclient/telemetry", "mcpclient/telemetry/instrument", "mcpclient/telemetry/schema",
		"mcpclient", "mcp/skill",
	},
	"mcpclient/apps": {
		"internal/usercode", "mcp", "internal/given", "internal/clientinput", "internal/jsonscan", "internal/jsonrpc", "internal/mirror", "internal/running", "inspect", "internal/keepalive", "internal/ndjson", "internal/schema", "internal/sse", "internal/grow",
		"mcpclient/connstate", "mcpclient/internal/machine", "mcpclient/internal/inflight", "mcpclient/internal/waits", "mcpclient/transport", "mcpclient/telemetry", "mcpclient/telemetry/instrument", "mcpclient/telemetry/schema",
		"mcpclient", "mcp/app",
	},
	"mcpclient/config": {
		"internal/usercode", "mcp", "internal/given", "internal/clientinput", "internal/jsonscan", "internal/jsonrpc", "internal/mirror", "internal/running", "inspect", "internal/keepalive", "internal/ndjson", "internal/schema", "internal/sse", "internal/grow",
		"mcpclient/connstate", "mcpclient/internal/machine", "mcpclient/internal/inflight", "mcpclient/internal/waits", "mcpclient/transport", "mcpclient/telemetry", "mcpclient/telemetry/instrument", "mcpclient/telemetry/schema",
		"mcpclient",
	},
	"mcpserver": {
		"internal/usercode", "mcp", "internal/given", "internal/clientinput", "internal/jsonscan", "internal/jsonrpc", "internal/mirror", "internal/running", "inspect", "internal/keepalive", "internal/ndjson", "internal/schema", "internal/sse", "internal/grow",
		"mcpclient/connstate", "mcpclient/telemetry", "mcpclient/telemetry/instrument", "mcpclient/telemetry/schema", "mcpserver/internal/identity", "mcpserver/store",
	},
	"mcpserver/skills": {
		"internal/usercode", "mcp", "internal/given", "internal/clientinput", "internal/jsonscan", "internal/jsonrpc", "internal/mirror", "internal/running", "inspect", "internal/keepalive", "internal/ndjson", "internal/schema", "internal/sse", "internal/grow",
		"mcpclient/connstate", "mcpclient/telemetry", "mcpclient/telemetry/instrument", "mcpclient/telemetry/schema", "mcpserver/internal/identity", "mcpserver/store",
		"mcpserver", "mcp/skill",
	},
	"mcpserver/apps": {
		"internal/usercode", "mcp", "internal/given", "internal/clientinput", "internal/jsonscan", "internal/jsonrpc", "internal/mirror", "internal/running", "inspect", "internal/keepalive", "internal/ndjson", "internal/schema", "internal/sse", "internal/grow",
		"mcpclient/connstate", "mcpclient/telemetry", "mcpclient/telemetry/instrument", "mcpclient/telemetry/schema", "mcpserver/internal/identity", "mcpserver/store",
		"mcpserver", "mcp/app",
	},
	"mcpserver/store": {"mcp", "internal/jsonscan", "internal/jsonrpc", "mcpserver/internal/identity"},
	"mcpserver/store/storetest": {"mcpserver/store", "mcp", "internal/jsonscan", "internal/jsonrpc",
		"mcpserver/internal/identity"},
	"mcpserver/bearer":            {"internal/usercode", "mcpserver/internal/identity"},
	"mcpserver/internal/identity": {},
}

// leaves import nothing of this module but one another, and every package may import them.
var leaves = []string{
	"internal/hostname", "internal/weigh",
	"mcpclient/telemetry/names", "mcpclient/telemetry/internal/words", "mcpclient/telemetry/internal/settings",
}

// anywhere are the packages that may import whatever they like: nothing imports them.
var anywhere = []string{"cmd/", "examples/", "benchmarks", "examples", "internal/testsupport",
	"internal/house/traveller", "testenv/quirks", "testenv/trouble", "testenv/wire"}

// foreign says which modules outside the standard library each package may import directly.
var foreign = map[string][]string{
	"internal/schema": {"github.com/google/jsonschema-go", "github.com/go-json-experiment/json"},
	"internal/otlpsink": {"go.opentelemetry.io/proto/otlp", "google.golang.org/grpc",
		"google.golang.org/protobuf"},
	"internal/weigh":                        {"github.com/go-json-experiment/json"},
	"internal/ndjson":                       {"golang.org/x/sys"},
	"mcp":                                   {"github.com/go-json-experiment/json"},
	"mcp/skill":                             {"github.com/go-json-experiment/json", "go.yaml.in/yaml/v3"},
	"mcpclient":                             {"github.com/go-json-experiment/json"},
	"mcpclient/config":                      {"github.com/go-json-experiment/json"},
	"mcpserver":                             {"github.com/go-json-experiment/json", "github.com/yosida95/uritemplate/v3"},
	"mcpserver/bearer":                      {"github.com/go-json-experiment/json", "github.com/go-jose/go-jose/v4"},
	"mcpclient/transport":                   {"internal/usercode", "golang.org/x/sys"},
	"mcpclient/transport/transporttest":     {"internal/usercode", "golang.org/x/sys"},
	"mcpclient/auth":                        {"golang.org/x/oauth2"},
	"mcpclient/auth/internal/metadata":      {"github.com/go-json-experiment/json"},
	"mcpclient/auth/internal/dpop":          {"github.com/go-jose/go-jose/v4"},
	"mcpclient/auth/internal/assertion":     {"github.com/go-jose/go-jose/v4"},
	"mcpclient/telemetry":                   telemetryAPI,
	"mcpclient/telemetry/internal/settings": telemetryAPI,
	"mcpclient/telemetry/instrument":        telemetryAPI,
	"mcpclient/telemetry/telemetrytest":     append([]string{"go.opentelemetry.io/otel/sdk"}, telemetryAPI...),
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
		if name == module ||
			slices.ContainsFunc(anywhere, func(prefix string) bool { return strings.HasPrefix(name, prefix) }) {
			continue
		}
		allowed, known := arrows[name]
		if !known {
			t.Errorf("package %s stands in no row of arrows", name)
			continue
		}
		for _, dep := range p.deps {
			own, ok := strings.CutPrefix(dep, module+"/")
			if ok && !slices.Contains(allowed, own) && !slices.Contains(leaves, own) {
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
	library := []string{module + "/mcp", module + "/mcpclient", module + "/mcpserver", module + "/mcpclient/telemetry",
		module + "/mcpclient/transport"}
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

// TestEachDependencyHasItsReason holds the table of CONTRIBUTING.md against go.mod.
func TestEachDependencyHasItsReason(t *testing.T) {
	page, err := os.ReadFile("CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "## Dependencies")
	var reasons []string
	for line := range strings.Lines(table) {
		if cells := strings.Split(line, "|"); len(cells) > 3 {
			for i, name := range strings.Split(cells[1], "`") {
				if i%2 == 1 {
					reasons = append(reasons, name)
				}
			}
		}
	}
	out, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f",
		"{{if not (or .Main .Indirect)}}{{.Path}}{{end}}", "all").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	used := map[string]bool{}
	for module := range strings.FieldsSeq(string(out)) {
		i := slices.IndexFunc(reasons, func(r string) bool {
			return within(module, r) &&
				(r != "go.opentelemetry.io/otel" || module == r)
		})
		if i < 0 {
			t.Errorf("CONTRIBUTING.md has no reason for %s", module)
			continue
		}
		used[reasons[i]] = true
	}
	for _, r := range reasons {
		if !used[r] {
			t.Errorf("CONTRIBUTING.md has a reason for %s, which go.mod does not require", r)
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
