package mcpotel_test

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/mcpotel/mcpotel"

// leaves are the packages that import no other package of this module. Every package may import them.
var leaves = []string{
	"internal/jsonscan", "internal/grow", "internal/broadcast", "internal/lock", "internal/oversize",
	"internal/keepalive", "internal/within", "internal/hostname", "internal/weigh", "internal/usercode", "internal/unit",
	"internal/visible", "internal/dashboard", "internal/atomicfile", "internal/groupname",
	"mcpclient/connstate", "internal/client/inflight", "internal/client/waits", "internal/client/seam",
	"mcpclient/internal/loops", "internal/glob", "internal/mailbox", "internal/uritemplate",
	"internal/stdio", "internal/tokens", "internal/version",
	"mcpclient/telemetry/names", "mcpclient/auth/internal/assertion",
	"internal/identity", "internal/filelock", "internal/proctree",
}

// arrows lists, for each other package of this module, the packages that it may import besides leaves. A new package
// needs an entry here.
var arrows = map[string][]string{
	"internal/jsonscan/jsontest":   {},
	"internal/workers":             {},
	"internal/server/quota":        {},
	"internal/server/introduction": {"internal/given", "internal/jsonrpc", "mcp"},
	"internal/server/rates":        {"internal/server/quota"},
	"internal/server/rpc": {
		"internal/instrument", "internal/jsonrpc", "internal/server/quota", "internal/workers", "mcp", "mcpclient/telemetry",
	},
	"internal/server/web": {
		"internal/instrument", "internal/jsonrpc", "internal/mirror", "internal/relay", "internal/server/quota",
		"internal/server/rpc", "internal/sse", "mcp", "mcpclient/telemetry", "mcpserver/store",
	},
	"internal/server/tasks": {
		"internal/instrument", "internal/jsonrpc", "internal/server/quota", "internal/server/rpc", "mcp", "mcpserver/store",
	},
	"internal/server/engine": {
		"inspect", "internal/given", "internal/instrument", "internal/jsonrpc", "internal/relay", "internal/running",
		"internal/server/introduction", "internal/server/quota", "internal/server/rates", "internal/server/rpc",
		"internal/server/web", "mcp", "mcpclient/telemetry",
	},
	"internal/server/storeguard": {"mcpserver/store"},
	"internal/ndjson":            {},
	"internal/auditlog":          {},
	"internal/sse":               {},
	"dashboards":                 {},
	"internal/jsonrpc":           {},
	"internal/mirror":            {},
	"internal/schema":            {},
	"internal/promname":          {"internal/instrument/schema"},
	"internal/schemacheck":       {"mcpclient/telemetry", "internal/instrument/schema"},
	"internal/otlpcheck": {
		"internal/otlpsink", "internal/schemacheck", "mcpclient/telemetry", "internal/instrument/schema",
	},
	"internal/command/doctor": {
		"internal/jsonrpc", "internal/mirror", "internal/otlpsink", "internal/schema", "mcp", "mcpclient", "mcpclient/auth",
		"mcpclient/telemetry", "mcpclient/telemetry/otlp", "mcpclient/transport",
	},
	"internal/otlpsink":        {"internal/loopback", "internal/waterfall"},
	"internal/loopback":        {},
	"internal/waterfall":       {},
	"internal/page":            {},
	"internal/command/backend": {"internal/hostname"},
	"internal/command/traceview": {
		"internal/command/backend", "internal/loopback", "internal/otlpsink", "internal/page", "internal/waterfall", "mcp",
	},
	"internal/command/inspectview": {
		"inspect", "inspect/debugpage", "internal/command/toolargs", "internal/command/toolform",
		"internal/command/traceview", "internal/explain", "internal/inspector", "internal/jsonrpc",
		"internal/loopback", "internal/otlpsink", "internal/page", "internal/schema", "mcp", "mcp/contextcost",
		"internal/recording", "mcpclient", "mcpclient/connstate", "mcpclient/telemetry/names", "mcpclient/transport",
		"mcpproxy",
	},
	"internal/given":              {"mcp"},
	"internal/clientinput":        {"mcp"},
	"internal/running":            {"inspect"},
	"internal/health":             {},
	"internal/scrape":             {},
	"internal/relay":              {"internal/health", "mcp"},
	"internal/recording":          {"mcp"},
	"internal/command/demoserver": {"inspect", "mcp", "mcpclient/telemetry/otlp", "mcpserver"},
	"internal/command/hostfile":   {"internal/command/userfile", "mcpclient/config"},
	"internal/command/planfile": {
		"internal/command/gameday", "internal/command/typing", "mcpclient/transport/chaos", "mcpproxy",
	},
	"internal/command/question":      {"internal/command/typing", "internal/schema", "mcp"},
	"internal/command/toolargs":      {"internal/command/typing", "internal/schema"},
	"internal/command/toolform":      {"internal/command/toolargs"},
	"internal/command/typing":        {},
	"internal/command/userfile":      {},
	"internal/command/recordingdiff": {"internal/recording", "mcp", "mcp/drift"},
	"internal/command/replay":        {"internal/recording", "mcp", "mcpclient/transport"},
	"internal/mock": {
		"internal/recording", "internal/relay", "internal/relay/downstream", "mcp", "mcpclient/telemetry", "mcpserver",
	},
	"internal/command/prom": {"internal/command/backend"},
	"internal/command/receiver": {
		"internal/command/prom", "internal/explain", "internal/inspector", "mcpclient/telemetry",
	},
	"internal/command/gameday": {
		"internal/command/prom", "internal/command/receiver", "internal/command/traceview", "mcp", "mcpclient", "mcpclient/connstate",
		"mcpclient/telemetry", "mcpclient/transport", "mcpclient/transport/chaos", "mcpserver",
	},
	"internal/explain": {"inspect", "mcpclient/telemetry"},
	"internal/inspector": {
		"inspect", "internal/explain", "internal/running", "mcp", "mcpclient/telemetry", "mcpserver",
	},

	"mcp":       {"internal/jsonrpc"},
	"mcp/skill": {"mcp"},
	"mcp/app":   {"mcp"},

	"mcp/contextcost": {"mcp"},
	"mcp/drift":       {"mcp"},

	"inspect": {"mcp", "mcpclient/telemetry"},
	"inspect/debugpage": {
		"inspect", "internal/loopback", "internal/page", "internal/running", "mcp", "mcpclient/telemetry",
	},
	"inspect/inspectserver": {"inspect", "internal/inspector", "internal/running", "mcpserver"},

	"internal/client/machine": {},
	"mcpclient/transport": {
		"internal/jsonrpc", "internal/mirror", "internal/ndjson", "internal/sse", "internal/workers",
	},
	"mcpclient/transport/transporttest": {"mcpclient/transport"},
	"mcpclient/transport/chaos": {
		"internal/inlet", "internal/jsonrpc", "mcp", "internal/instrument", "mcpclient/transport",
	},
	"internal/inlet":                {"mcpclient/transport"},
	"internal/instrument/words":     {},
	"internal/instrument/bridge":    {},
	"internal/instrument/flight":    {"mcpclient/telemetry"},
	"internal/instrument/records":   {"mcpclient/telemetry"},
	"internal/instrument/propagate": {},
	"internal/instrument/series":    {"internal/instrument/words"},
	"internal/instrument/schema":    {"internal/instrument/words"},
	"internal/instrument/settings":  {"internal/auditlog"},
	"mcpclient/telemetry/audit":     {"internal/auditlog"},
	"mcpclient/telemetry": {
		"internal/auditlog", "internal/instrument/settings", "internal/instrument/words", "mcpclient/telemetry/audit",
	},
	"internal/instrument": {
		"internal/instrument/settings",
		"mcpclient/telemetry", "internal/instrument/bridge", "internal/instrument/flight",
		"internal/instrument/propagate", "internal/instrument/records", "internal/instrument/series",
		"internal/instrument/words", "internal/instrument/schema",
	},
	"mcpclient/telemetry/telemetrytest": {
		"internal/schemacheck", "mcpclient/telemetry", "internal/instrument/schema", "internal/instrument/settings",
	},
	"mcpclient/telemetry/otlp": {
		"mcpclient/telemetry", "internal/instrument/bridge", "internal/instrument/words",
		"mcpclient/telemetry/tailsampling",
	},
	"mcpclient/telemetry/tailsampling":  {"internal/instrument/words"},
	"mcpclient/auth/internal/metadata":  {},
	"mcpclient/auth/internal/challenge": {},
	"mcpclient/auth/internal/dpop":      {},
	"mcpclient/auth": {
		"mcpclient/auth/internal/challenge", "mcpclient/auth/internal/dpop", "mcpclient/auth/internal/metadata",
		"internal/instrument",
	},
	"internal/client/conn": {
		"inspect", "internal/given", "internal/health", "internal/jsonrpc", "mcp", "internal/client/machine",
		"mcpclient/telemetry", "internal/instrument", "mcpclient/transport",
	},
	"internal/client/serving": {
		"internal/jsonrpc", "mcp", "internal/client/conn", "internal/instrument", "mcpclient/transport",
	},
	"internal/client/methods": {"mcp"},
	"mcpclient": {
		"inspect", "internal/clientinput", "internal/given", "internal/health", "internal/jsonrpc", "internal/mirror",
		"internal/running", "internal/schema", "mcp", "mcp/contextcost", "mcp/drift", "internal/client/conn",
		"internal/client/methods", "internal/client/serving", "mcpclient/telemetry", "internal/instrument",
		"mcpclient/transport",
	},
	"mcpclient/skills": {"mcp", "mcp/skill", "mcpclient"},
	"mcpclient/apps":   {"mcp", "mcp/app", "mcpclient"},
	"mcpclient/config": {"mcpclient", "mcpclient/transport"},

	"mcpserver": {
		"inspect", "internal/clientinput", "internal/given", "internal/jsonrpc", "internal/mirror", "internal/ndjson",
		"internal/running", "internal/schema", "internal/server/engine", "internal/server/introduction",
		"internal/server/quota", "internal/server/rates", "internal/server/rpc", "internal/server/storeguard",
		"internal/server/tasks", "internal/server/web", "internal/workers", "mcp", "mcpclient/telemetry",
		"internal/instrument", "mcpserver/store",
	},
	"internal/relay/downstream": {
		"internal/instrument", "internal/jsonrpc", "internal/relay", "internal/server/engine",
		"internal/server/introduction", "internal/server/quota", "internal/server/rpc", "internal/server/web", "mcp",
		"mcpclient/telemetry",
	},
	"internal/relay/upstream": {
		"inspect", "internal/health", "internal/jsonrpc", "internal/mirror", "internal/relay", "internal/running", "mcp",
		"internal/client/conn", "internal/client/methods", "internal/client/serving", "mcpclient/telemetry",
		"internal/instrument", "mcpclient/transport",
	},
	"mcpproxy": {
		"internal/health", "internal/jsonrpc", "internal/recording", "internal/relay", "internal/relay/downstream",
		"internal/relay/upstream", "mcp", "mcpclient", "mcpclient/telemetry", "internal/instrument", "mcpclient/transport", "mcpserver",
	},
	"mcpserver/skills":          {"mcp", "mcp/skill", "mcpserver"},
	"mcpserver/apps":            {"mcp", "mcp/app", "mcpserver"},
	"mcpserver/store":           {"mcp"},
	"mcpserver/store/storetest": {"mcp", "mcpserver/store"},
	"mcpserver/bearer":          {},

	// not mcpclient: the tests of mcpclient import mcptest
	"mcptest": {"internal/inlet", "internal/mock", "internal/recording", "mcp", "mcpclient/transport", "mcpserver"},
}

// anywhere are the packages that may import every package, because no package imports them.
var anywhere = []string{"cmd/", "examples/", "benchmarks", "examples", "internal/testsupport",
	"testenv/quirks", "testenv/simulation", "testenv/trouble", "testenv/wire"}

// foreign lists, for each package, the modules outside the standard library that it may import directly.
var foreign = map[string][]string{
	"internal/schema": {"github.com/google/jsonschema-go", "github.com/go-json-experiment/json"},
	"internal/otlpsink": {"go.opentelemetry.io/proto/otlp", "google.golang.org/grpc",
		"google.golang.org/protobuf"},
	"internal/scrape": {"github.com/prometheus/client_golang", "go.opentelemetry.io/otel/exporters/prometheus",
		"go.opentelemetry.io/otel/sdk"},
	"internal/command/demoserver": {"go.opentelemetry.io/otel/trace"},
	"internal/command/hostfile":   {"github.com/go-json-experiment/json"},
	"internal/command/inspectview": {"github.com/go-json-experiment/json", "github.com/yosida95/uritemplate/v3",
		"go.opentelemetry.io/otel/trace"},
	"internal/command/planfile":         {"go.yaml.in/yaml/v3"},
	"internal/command/toolargs":         {"github.com/go-json-experiment/json"},
	"internal/command/doctor":           append([]string{"go.opentelemetry.io/otel/sdk"}, telemetryAPI...),
	"internal/weigh":                    {"github.com/go-json-experiment/json"},
	"internal/ndjson":                   {"golang.org/x/sys"},
	"internal/filelock":                 {"golang.org/x/sys"},
	"internal/auditlog":                 {"github.com/go-json-experiment/json"},
	"mcp":                               {"github.com/go-json-experiment/json"},
	"mcp/drift":                         {"github.com/go-json-experiment/json"},
	"mcp/skill":                         {"github.com/go-json-experiment/json", "go.yaml.in/yaml/v3"},
	"mcpclient":                         {"github.com/go-json-experiment/json", "go.opentelemetry.io/otel/attribute"},
	"internal/client/conn":              {"go.opentelemetry.io/otel/trace"},
	"mcpclient/config":                  {"github.com/go-json-experiment/json"},
	"mcpserver":                         {"github.com/go-json-experiment/json"},
	"internal/uritemplate":              {"github.com/yosida95/uritemplate/v3"},
	"mcpserver/bearer":                  {"github.com/go-json-experiment/json", "github.com/go-jose/go-jose/v4"},
	"mcpproxy":                          telemetryAPI,
	"mcpclient/transport":               {"internal/usercode", "golang.org/x/sys"},
	"mcpclient/transport/transporttest": {"internal/usercode", "golang.org/x/sys"},
	"mcpclient/transport/chaos":         telemetryAPI,
	"mcpclient/auth":                    {"golang.org/x/oauth2"},
	"mcpclient/auth/internal/metadata":  {"github.com/go-json-experiment/json"},
	"mcpclient/auth/internal/dpop":      {"github.com/go-jose/go-jose/v4"},
	"mcpclient/auth/internal/assertion": {"github.com/go-jose/go-jose/v4"},
	"mcpclient/telemetry":               telemetryAPI,
	"internal/instrument/settings":      telemetryAPI,
	"internal/instrument/bridge":        telemetryAPI,
	"internal/instrument/flight":        telemetryAPI,
	"internal/instrument/series":        telemetryAPI,
	"internal/instrument/propagate":     telemetryAPI,
	"internal/instrument":               telemetryAPI,
	"mcpclient/telemetry/telemetrytest": append([]string{"go.opentelemetry.io/otel/sdk"}, telemetryAPI...),
	"mcpclient/telemetry/tailsampling":  append([]string{"go.opentelemetry.io/otel/sdk"}, telemetryAPI...),
	"mcpclient/telemetry/otlp": append([]string{
		"go.opentelemetry.io/contrib/propagators/autoprop", "go.opentelemetry.io/contrib/processors/baggagecopy",
		"go.opentelemetry.io/otel/sdk", "go.opentelemetry.io/otel/exporters", "github.com/lmittmann/tint",
		"golang.org/x/term",
		"google.golang.org/grpc",
	}, telemetryAPI...),
}

// telemetryAPI lists the packages of the OpenTelemetry API, which a library may import. A prefix ends at the end of a
// path element.
var telemetryAPI = []string{
	"go.opentelemetry.io/otel=", "go.opentelemetry.io/otel/attribute", "go.opentelemetry.io/otel/baggage",
	"go.opentelemetry.io/otel/codes", "go.opentelemetry.io/otel/log", "go.opentelemetry.io/otel/metric",
	"go.opentelemetry.io/otel/propagation",
	"go.opentelemetry.io/otel/semconv", "go.opentelemetry.io/otel/trace",
}

// TestPackageImportsFollowTheArchitecture compares the imports with the layout in docs/ARCHITECTURE.md.
func TestPackageImportsFollowTheArchitecture(t *testing.T) {
	for _, p := range listPackages(t) {
		name := strings.TrimPrefix(p.path, module+"/")
		if name == module ||
			slices.ContainsFunc(anywhere, func(prefix string) bool { return strings.HasPrefix(name, prefix) }) {
			continue
		}
		allowed, known := arrows[name]
		if known == slices.Contains(leaves, name) {
			t.Errorf("package %s, in arrows: %v; want it either in arrows or in leaves", name, known)
			continue
		}
		for _, dep := range p.imports {
			own, ok := strings.CutPrefix(dep, module+"/")
			if ok && (!known || !slices.Contains(allowed, own) && !slices.Contains(leaves, own)) {
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

// TestLibraryPackagesDoNotImportTheSDK ensures that the library does not add the SDK, the exporters and gRPC to users'
// programs.
func TestLibraryPackagesDoNotImportTheSDK(t *testing.T) {
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

// TestEachDependencyHasADocumentedReason compares the table in CONTRIBUTING.md with go.mod.
func TestEachDependencyHasADocumentedReason(t *testing.T) {
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

// isForeign reports whether path belongs neither to this module nor to the standard library.
func isForeign(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return strings.Contains(first, ".") && !within(path, module)
}

// within reports whether path is prefix or below it. A prefix that ends with = matches only itself.
func within(path, prefix string) bool {
	if exact, ok := strings.CutSuffix(prefix, "="); ok {
		return path == exact
	}
	return path == prefix || strings.HasPrefix(path, prefix+"/")
}
