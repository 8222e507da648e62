package main

import (
	"maps"
	"net"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// variable matches the use of an environment variable with its default.
var variable = regexp.MustCompile(`\$\{env:([A-Z_]+):-([^${}]*)`)

// variables returns the variables that a file reads, each with its default. The default is "" if it is another
// variable.
func variables(t *testing.T, text string) map[string]string {
	t.Helper()
	found := map[string]string{}
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, " #")
		if strings.HasPrefix(strings.TrimSpace(line), "#") {
			continue
		}
		if uses, understood := strings.Count(line, "${env:"), len(variable.FindAllString(line, -1)); uses != understood {
			t.Errorf("every variable should have a default: %s", strings.TrimSpace(line))
		}
		for _, m := range variable.FindAllStringSubmatch(line, -1) {
			if before, ok := found[m[1]]; ok && before != m[2] {
				t.Errorf("%s has two defaults, %q and %q", m[1], before, m[2])
			}
			found[m[1]] = m[2]
		}
	}
	return found
}

// documented returns the rows in the README's tables of variables, under the headings that name the file.
func documented(t *testing.T, file string) map[string]string {
	t.Helper()
	rows := map[string]string{}
	var here bool
	row := regexp.MustCompile("^\\| `([A-Z_]+)` \\| ([^|]*(?:\\\\\\|[^|]*)*) \\|")
	for line := range strings.Lines(readShipped(t, "README.md")) {
		if strings.HasPrefix(line, "#") {
			here = slices.Contains(strings.FieldsFunc(line, func(r rune) bool {
				return r == ' ' || r == '\n' || r == ','
			}), file)
		}
		if m := row.FindStringSubmatch(line); here && m != nil {
			rows[m[1]] = ""
			if strings.HasPrefix(m[2], "`") { // other text means that there is no default
				rows[m[1]] = strings.ReplaceAll(strings.Trim(m[2], "`"), `\|`, "|")
			}
		}
	}
	return rows
}

// TestEveryVariableIsInTheTable also finds rows whose variable no file reads.
func TestEveryVariableIsInTheTable(t *testing.T) {
	for _, name := range slices.Concat(shipped, slices.Collect(maps.Keys(overlays))) {
		read, own := variables(t, readShipped(t, name)), documented(t, name)
		rows := maps.Clone(own)
		if base, ok := overlays[name]; ok {
			maps.Copy(rows, documented(t, base))
		}
		for _, v := range slices.Sorted(maps.Keys(read)) {
			if row, ok := rows[v]; !ok {
				t.Errorf("%s reads %s, which has no row in README.md", name, v)
			} else if row != read[v] {
				t.Errorf("%s: the default of %s is %q, README.md says %q", name, v, read[v], row)
			}
		}
		for _, v := range slices.Sorted(maps.Keys(own)) {
			if _, ok := read[v]; !ok {
				t.Errorf("README.md has a row for %s, which %s does not read", v, name)
			}
		}
	}
}

// setting returns the value at a path of keys in a file.
func setting(t *testing.T, name string, path ...string) any {
	t.Helper()
	var tree any
	if err := yaml.Unmarshal([]byte(readShipped(t, name)), &tree); err != nil {
		t.Fatal(err)
	}
	for _, key := range path {
		branch, ok := tree.(map[string]any)
		if !ok {
			return nil
		}
		tree = branch[key]
	}
	return tree
}

func TestEverythingListensOnLoopbackByDefault(t *testing.T) {
	address := regexp.MustCompile(`^(?:\[[0-9a-f:]+\]|[0-9.]+):[0-9]+$`)
	for _, name := range shipped {
		addresses := 0
		for v, value := range variables(t, readShipped(t, name)) {
			host := value
			if address.MatchString(value) {
				host, _, _ = net.SplitHostPort(value)
			} else if !strings.HasSuffix(v, "_HOST") {
				continue
			}
			addresses++
			if ip := net.ParseIP(host); ip == nil || !ip.IsLoopback() {
				t.Errorf("%s: %s should be on loopback by default, is %q", name, v, value)
			}
		}
		if want := 4; addresses < want { // gRPC, HTTP, health, own metrics
			t.Errorf("%s: found %d addresses, want at least %d", name, addresses, want)
		}
	}
}

func TestPortsOfBothTiersDoNotCollide(t *testing.T) {
	taken := map[string]string{"16686": "Jaeger", "16685": "Jaeger", "14318": "Jaeger", "9090": "Prometheus"}
	listening := regexp.MustCompile(`_(GRPC|HTTP|HEALTH|PORT|PROMETHEUS)$`)
	for _, name := range []string{"agent.yaml", "gateway.yaml"} {
		for v, value := range variables(t, readShipped(t, name)) {
			if !listening.MatchString(v) {
				continue
			}
			port := value[strings.LastIndex(value, ":")+1:]
			if other, ok := taken[port]; ok {
				t.Errorf("%s of %s and %s both want port %s by default", v, name, other, port)
			}
			taken[port] = v
		}
	}
	agent, gateway := variables(t, readShipped(t, "agent.yaml")), variables(t, readShipped(t, "gateway.yaml"))
	if got, want := agent["MCPOTEL_GATEWAY_ENDPOINT"], gateway["MCPOTEL_GATEWAY_OTLP_GRPC"]; got != want {
		t.Errorf("the agent sends to %s by default, the gateway listens on %s", got, want)
	}
}

// bytesOfTrace is the memory of a gateway for an undecided trace, and ownMiB its memory without any trace, both as
// measured in collector/README.md.
const bytesOfTrace, ownMiB = 16 << 10, 150

func mibFor(traces int) int { return ownMiB + (traces*bytesOfTrace+1<<20-1)>>20 }

// TestDocumentedSizesMatchTheirFormula compares the table in the README with its formula, and the defaults with a row
// of the table.
func TestDocumentedSizesMatchTheirFormula(t *testing.T) {
	gateway := variables(t, readShipped(t, "gateway.yaml"))
	row := regexp.MustCompile(`(?m)^\| ([0-9,]+) \| ([0-9]+)s \| ([0-9]+) \| ([0-9]+) \|$`)
	number := func(text string) int {
		n, err := strconv.Atoi(strings.ReplaceAll(text, ",", ""))
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	rows, hasDefault := row.FindAllStringSubmatch(readShipped(t, "README.md"), -1), false
	for _, r := range rows {
		rate, wait, traces, mib := number(r[1]), number(r[2]), number(r[3]), number(r[4])
		if traces != rate*wait || mib != mibFor(traces) {
			t.Errorf("%s: want %d traces and %d MiB", r[0], rate*wait, mibFor(rate*wait))
		}
		if r[3] == gateway["MCPOTEL_SAMPLING_TRACES"] && r[2]+"s" == gateway["MCPOTEL_SAMPLING_DECISION_WAIT"] {
			hasDefault = mib <= number(gateway["MCPOTEL_GATEWAY_MEMORY_MIB"])
		}
	}
	if len(rows) == 0 || !hasDefault {
		t.Errorf("the defaults of gateway.yaml should be one of the %d rows, and fit its memory", len(rows))
	}
}

// pipelines returns the pipelines in a file, each with its lists of receivers, processors and exporters.
func pipelines(t *testing.T, name string) map[string]map[string][]string {
	t.Helper()
	all := map[string]map[string][]string{}
	tree, ok := setting(t, name, "service", "pipelines").(map[string]any)
	if !ok {
		t.Fatalf("%s has no pipelines", name)
	}
	for pipeline, parts := range tree {
		all[pipeline] = map[string][]string{}
		for part, list := range parts.(map[string]any) {
			for _, id := range list.([]any) {
				all[pipeline][part] = append(all[pipeline][part], id.(string))
			}
		}
	}
	return all
}

func TestMemoryLimiterIsFirstInReceivingPipelines(t *testing.T) {
	for _, name := range shipped {
		receivers := 0
		for pipeline, parts := range pipelines(t, name) {
			if !slices.Contains(parts["receivers"], "otlp") {
				continue
			}
			receivers++
			if processors := parts["processors"]; len(processors) == 0 || processors[0] != "memory_limiter" {
				t.Errorf("%s: the processors of pipeline %s are %v, want memory_limiter first", name, pipeline, processors)
			}
		}
		if receivers != 3 {
			t.Errorf("%s: %d pipelines receive OTLP, want traces, metrics and logs", name, receivers)
		}
	}
}

// TestSpansAreCountedBeforeTheyAreSampled follows the RED metrics back to the receivers.
func TestSpansAreCountedBeforeTheyAreSampled(t *testing.T) {
	all := pipelines(t, "gateway.yaml")
	names := slices.Sorted(maps.Keys(all))
	feeds := func(ids []string) (from []string) { // returns the pipelines that export to one of ids
		for _, name := range names {
			if slices.ContainsFunc(ids, func(id string) bool { return slices.Contains(all[name]["exporters"], id) }) {
				from = append(from, name)
			}
		}
		return from
	}
	before := feeds([]string{"span_metrics"})
	if len(before) == 0 {
		t.Fatal("no pipeline makes RED metrics")
	}
	for i := 0; i < len(before); i++ {
		if slices.Contains(all[before[i]]["processors"], "tail_sampling") {
			t.Errorf("%s samples what the RED metrics should count", before[i])
		}
		before = append(before, feeds(all[before[i]]["receivers"])...)
	}
	if last := before[len(before)-1]; !slices.Contains(all[last]["receivers"], "otlp") {
		t.Errorf("what the RED metrics count comes from %s, want it from OTLP", last)
	}
}

func TestMain(m *testing.M) {
	for _, v := range os.Environ() { // the shell's variables must not affect the tests
		if name, _, _ := strings.Cut(v, "="); strings.HasPrefix(name, "MCPOTEL_") {
			os.Unsetenv(name)
		}
	}
	os.Exit(m.Run())
}
