package stack

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Program returns the path of otelcol, prometheus, promtool or jaeger: the value of the variable with the program's
// name and the suffix _BIN, or the program in the directory MCPOTEL_STACK.
func Program(name string) (string, error) {
	variable := variables[name]
	path := os.Getenv(variable)
	if path == "" {
		dir := os.Getenv("MCPOTEL_STACK")
		if dir == "" {
			return "", fmt.Errorf("no %s: neither %s nor MCPOTEL_STACK is set; run testenv/stack/install and set "+
				"MCPOTEL_STACK to the directory that it prints", name, variable)
		}
		path = filepath.Join(dir, name)
	}
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("no %s: %w", name, err)
	}
	return path, nil
}

var variables = map[string]string{
	"otelcol": "OTELCOL_BIN", "prometheus": "PROMETHEUS_BIN", "promtool": "PROMTOOL_BIN", "jaeger": "JAEGER_BIN",
}

// find returns the paths of several programs. Its error names all missing ones.
func find(names ...string) (map[string]string, error) {
	paths := map[string]string{}
	var missing []error
	for _, name := range names {
		path, err := Program(name)
		paths[name] = path
		missing = append(missing, err)
	}
	return paths, errors.Join(missing...)
}
