package main

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/collector/component"
	"sigs.k8s.io/yaml"
)

// kinds are the sections of a configuration whose keys are components.
var kinds = []string{"receivers", "processors", "connectors", "exporters", "extensions"}

// modules returns the modules of the distribution in components.go, by kind and type of component.
func modules(t *testing.T) map[string]map[component.Type]string {
	t.Helper()
	f, err := components()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]map[component.Type]string{
		"receivers": f.ReceiverModules, "processors": f.ProcessorModules, "connectors": f.ConnectorModules,
		"exporters": f.ExporterModules, "extensions": f.ExtensionModules,
	}
	return all
}

// manifest returns the modules in collector/manifest.yaml, by kind.
func manifest(t *testing.T) map[string][]string {
	t.Helper()
	var file map[string]any
	if err := yaml.Unmarshal([]byte(readShipped(t, "manifest.yaml")), &file); err != nil {
		t.Fatal(err)
	}
	all := map[string][]string{}
	for kind, list := range file {
		modules, ok := list.([]any)
		if !ok {
			continue // the section dist
		}
		for _, m := range modules {
			all[kind] = append(all[kind], m.(map[string]any)["gomod"].(string))
		}
	}
	return all
}

// TestManifestMatchesTheBuild checks that a build from the manifest is the distribution under test.
func TestManifestMatchesTheBuild(t *testing.T) {
	listed := manifest(t)
	for kind, built := range modules(t) {
		want := slices.Compact(slices.Sorted(maps.Values(built))) // an alias has the same module as the original
		if got := slices.Sorted(slices.Values(listed[kind])); !slices.Equal(got, want) {
			t.Errorf("%s: manifest.yaml lists\n%s\ncomponents.go has\n%s", kind, strings.Join(got, "\n"),
				strings.Join(want, "\n"))
		}
	}
	text, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, provider := range listed["providers"] {
		if !strings.Contains(string(text), provider) {
			t.Errorf("main.go does not have the provider %s of manifest.yaml", provider)
		}
	}
	requirements, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	for kind, list := range listed {
		for _, m := range list {
			if !strings.Contains(string(requirements), m+"\n") {
				t.Errorf("%s: go.mod does not require %s of manifest.yaml", kind, m)
			}
		}
	}
}

// TestDistributionHasOnlyUsedComponents checks that no component is missing and that every component is used by a
// configuration.
func TestDistributionHasOnlyUsedComponents(t *testing.T) {
	used := map[string]map[string]bool{}
	for _, name := range slices.Concat(shipped, slices.Collect(maps.Keys(overlays))) {
		for _, kind := range kinds {
			section, _ := setting(t, name, kind).(map[string]any)
			for id := range section {
				typ, _, _ := strings.Cut(id, "/")
				if used[kind] == nil {
					used[kind] = map[string]bool{}
				}
				used[kind][typ] = true
			}
		}
	}
	for kind, built := range modules(t) {
		var unused []string
		byModule := map[string][]string{} // types with their aliases
		for typ, module := range built {
			byModule[module] = append(byModule[module], typ.String())
		}
		for module, types := range byModule {
			if !slices.ContainsFunc(types, func(typ string) bool { return used[kind][typ] }) {
				unused = append(unused, module)
			}
		}
		if len(unused) > 0 {
			t.Errorf("%s: no configuration uses %v", kind, unused)
		}
	}
}

// TestConfiguredComponentsAreUsed checks that a pipeline names each configured component; otherwise it would never
// start.
func TestConfiguredComponentsAreUsed(t *testing.T) {
	chosen := []string{"otlp_http/logs"} // MCPOTEL_LOGS_EXPORTER selects it; the default is debug
	for _, name := range slices.Concat(shipped, slices.Collect(maps.Keys(overlays))) {
		var inUse []string
		for _, parts := range pipelines(t, name) {
			for _, ids := range parts {
				inUse = append(inUse, ids...)
			}
		}
		if name == "gateway.yaml" {
			inUse = append(inUse, append(chosen, variables(t, readShipped(t, name))["MCPOTEL_LOGS_EXPORTER"])...)
		}
		extensions, _ := setting(t, name, "service", "extensions").([]any)
		for _, id := range extensions {
			inUse = append(inUse, id.(string))
		}
		for _, kind := range kinds {
			section, _ := setting(t, name, kind).(map[string]any)
			for id := range section {
				if !slices.Contains(inUse, id) {
					t.Errorf("%s configures %s of %s and does not use it", name, id, kind)
				}
			}
		}
	}
}
