//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// sandbox is the place for the commands: a fresh copy of the repository, and an empty home.
type sandbox struct {
	dir      string // removed as a whole at the end
	checkout string
	environ  []string
}

// newSandbox creates the folders. Their paths depend on the root, so that two checkouts do not disturb each other, and
// on the content: Go's cache identifies a module's imports by its folder, so a folder's content must not change.
func newSandbox(ctx context.Context, root string, cold bool) (*sandbox, error) {
	files, err := filesOf(ctx, root)
	if err != nil {
		return nil, err
	}
	content, err := hashOf(root, files)
	if err != nil {
		return nil, err
	}
	place := fnv.New32a()
	_, _ = place.Write([]byte(root)) // never fails
	prefix := filepath.Join(os.TempDir(), fmt.Sprintf("mcpotel-guides-%08x-", place.Sum32()))
	left, err := filepath.Glob(prefix + "*")
	if err != nil {
		return nil, err
	}
	for _, dir := range left { // folders of killed runs
		(&sandbox{dir: dir}).remove()
	}
	dir := fmt.Sprintf("%s%016x", prefix, content)
	s := &sandbox{dir: dir, checkout: filepath.Join(dir, "checkout")}
	home, proxy := filepath.Join(dir, "home"), filepath.Join(dir, "proxy")
	for _, d := range []string{s.checkout, home, proxy} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return nil, err
		}
	}
	if err := copyFiles(root, s.checkout, files); err != nil {
		return nil, err
	}
	if err := publish(proxy, s.checkout, files); err != nil {
		return nil, err
	}
	s.environ, err = environment(ctx, home, proxy, cold)
	return s, err
}

// remove removes all folders. Go's module cache is read-only, so it first makes the directories writable.
func (s *sandbox) remove() {
	_ = exec.Command("chmod", "-R", "u+w", s.dir).Run()
	_ = os.RemoveAll(s.dir)
}

// filesOf returns the names of the files that git tracks or would add.
func filesOf(ctx context.Context, root string) ([]string, error) {
	list, err := output(ctx, "git", "-C", root, "ls-files", "-co", "--exclude-standard")
	if err != nil {
		return nil, err
	}
	var files []string
	for name := range strings.SplitSeq(list, "\n") {
		if _, err := os.Lstat(filepath.Join(root, name)); err == nil { // a tracked file may be deleted
			files = append(files, name)
		}
	}
	return files, nil
}

// hashOf returns a hash of the files' contents.
func hashOf(root string, files []string) (uint64, error) {
	h := fnv.New64a()
	for _, name := range files {
		data, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return 0, err
		}
		fmt.Fprintf(h, "%s %d\n", name, len(data))
		_, _ = h.Write(data)
	}
	return h.Sum64(), nil
}

func copyFiles(root, to string, files []string) error {
	for _, name := range files {
		target := filepath.Join(to, name)
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		data, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return err
		}
		info, err := os.Stat(filepath.Join(root, name))
		if err != nil {
			return err
		}
		if err := os.WriteFile(target, data, info.Mode().Perm()); err != nil {
			return err
		}
	}
	return nil
}

// environment returns this process's environment without the variables of its user and of the surrounding CI run.
func environment(ctx context.Context, home, proxy string, cold bool) ([]string, error) {
	var environ []string
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		if name == "HOME" || name == "PWD" || strings.HasPrefix(name, "XDG_") || strings.HasPrefix(name, "GO") ||
			strings.HasPrefix(name, "OTEL_") || strings.HasPrefix(name, "MCPOTEL_") {
			continue
		}
		environ = append(environ, kv)
	}
	known, err := output(ctx, "go", "env", "GOPROXY", "GOMODCACHE", "GOCACHE", "GOTOOLCHAIN")
	if err != nil {
		return nil, err
	}
	of := strings.Split(known, "\n")
	proxies, gobin := "file://"+proxy+","+of[0], filepath.Join(home, "go", "bin")
	environ = append(environ, "HOME="+home, "GOBIN="+gobin, "PATH="+gobin+":"+os.Getenv("PATH"), "TERM=dumb",
		"GONOSUMDB=github.com/mcpotel/*", "GOTOOLCHAIN="+of[3])
	if cold {
		return append(environ, "GOPROXY="+proxies, "npm_config_cache="+filepath.Join(home, ".npm")), nil
	}
	npm, err := output(ctx, "npm", "config", "get", "cache")
	if err != nil {
		return nil, err
	}
	downloads := "file://" + filepath.Join(of[1], "cache", "download")
	// With -trimpath, Go's cache identifies a package by module and version instead of its folder. So runs in all
	// checkouts share builds.
	return append(environ, "GOPROXY="+downloads+","+proxies, "GOCACHE="+of[2], "npm_config_cache="+npm,
		"GOFLAGS=-modcacherw -trimpath"), nil
}

// output returns a command's output, without the line break at its end.
func output(ctx context.Context, name string, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, name, args...).Output()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		return "", fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, failed.Stderr)
	}
	return strings.TrimSpace(string(out)), err
}
