package stack_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/mcpotel/mcpotel/testenv/stack"
)

// TestComposePublishesOnLoopbackOnly checks the ports in compose.yaml, and that the files that it names exist. No test
// runs the file, because that needs a Docker engine.
func TestComposePublishesOnLoopbackOnly(t *testing.T) {
	text, err := os.ReadFile("compose.yaml")
	if err != nil {
		t.Fatal(err)
	}
	ports := regexp.MustCompile(`"([0-9.]+:\d+:\d+)"`).FindAllStringSubmatch(string(text), -1)
	if len(ports) != 5 {
		t.Errorf("want five published ports, got %v", ports)
	}
	for _, p := range ports {
		if !strings.HasPrefix(p[1], "127.0.0.1:") {
			t.Errorf("want %s on loopback", p[1])
		}
	}
	for _, m := range regexp.MustCompile(`- (\.\S+?):/`).FindAllStringSubmatch(string(text), -1) {
		if _, err := os.Stat(m[1]); err != nil {
			t.Errorf("want what is mounted to be there: %v", err)
		}
	}
	if n := strings.Count(string(text), "image: "); n != 5 {
		t.Errorf("want five images, got %d", n)
	}
	for _, m := range regexp.MustCompile(`image: (\S+)`).FindAllStringSubmatch(string(text), -1) {
		if !regexp.MustCompile(`:v?\d+\.\d+\.\d+$`).MatchString(m[1]) {
			t.Errorf("want a pinned image, got %s", m[1])
		}
	}
}

func TestComposePrometheusFileIsValid(t *testing.T) {
	promtool, err := stack.Program("promtool")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join("compose", "prometheus.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	root, err := stack.Repository()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "prometheus.yaml")
	mounted := strings.ReplaceAll(string(text), "/etc/mcpotel/dashboards", filepath.Join(root, "dashboards"))
	if err := os.WriteFile(file, []byte(mounted), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.CommandContext(t.Context(), promtool, "check", "config", file).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
