package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// released is the version of the proof: higher than every real one, so that the proof also works after releases.
const released = "v0.999.0"

// TestAReleaseCanBeRequiredAndInstalled releases a clone of the last commit, serves its tags as a module proxy, and
// acts as a user: it adds each module to an empty module, builds a program with all of them, and installs the command.
func TestAReleaseCanBeRequiredAndInstalled(t *testing.T) {
	clone := cloned(t)
	if err := release(string(clone), released, false, io.Discard); err != nil {
		t.Fatal(err)
	}
	tags, err := clone.lines("tag", "--points-at", "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{released, "adapters/gosdk/" + released, "adapters/mcpgo/" + released,
		"mcpclient/telemetry/otelsetup/" + released, "mcpserver/redisstore/" + released}; !containsAll(tags, want) {
		t.Fatalf("tags: want at least %q, got %q", want, tags)
	}
	proxy, modules := proxyOf(t, clone, tags)
	u := newUser(t, proxy)

	t.Run("required", func(t *testing.T) {
		u.requires(t, clone, modules)
	})
	t.Run("installed", func(t *testing.T) {
		u.run(t, u.home, "go", "install", rootModule+"/cmd/mcpotel@"+released)
		out := u.run(t, u.home, filepath.Join(u.home, "mcpotel"), "--version")
		if !strings.Contains(out, "mcpotel "+released) {
			t.Errorf("want mcpotel --version to begin with %q, got %q", "mcpotel "+released, out)
		}
	})
	t.Run("developed further", func(t *testing.T) {
		for _, module := range modules {
			if module == rootModule {
				continue // the root module requires no other module of the repository
			}
			dir := filepath.Join(string(clone), filepath.FromSlash(strings.TrimPrefix(module, rootModule+"/")))
			list := exec.Command("go", "list", "-mod=readonly", "-deps", "-f",
				"{{with .Module}}{{with .Replace}}{{.Path}}{{end}}{{end}}", "./...")
			list.Dir = dir
			out, err := list.CombinedOutput()
			if err != nil || !strings.Contains(string(out), "../..") {
				t.Errorf("%s: want the root module beside it, got %v:\n%s", module, err, out)
			}
		}
	})
}

// cloned returns a clone of the repository at the last commit, whose changelog has a section for the version.
func cloned(t *testing.T) git {
	t.Helper()
	root, err := git(".").line("rev-parse", "--show-toplevel")
	if err != nil {
		t.Fatal(err)
	}
	clone := git(t.TempDir())
	do(t, clone, "clone", "--quiet", root, ".")
	do(t, clone, "checkout", "--quiet", "-B", "main")
	do(t, clone, "config", "user.name", "release")
	do(t, clone, "config", "user.email", "release@example.com")
	do(t, clone, "config", "commit.gpgSign", "false")
	do(t, clone, "config", "tag.gpgSign", "false")
	write(t, clone, changelogName, headingOf(released)+unreleased+"\n\n- all of it\n")
	do(t, clone, "commit", "--quiet", "-a", "-m", "the changelog of a release")
	return clone
}

// user has a home and a module cache without anything of this repository.
type user struct {
	home string
	env  []string
}

// newUser returns a user who gets our modules from proxy. Modules of others come from the module cache of this machine,
// or from GOPROXY if they are missing there.
func newUser(t *testing.T, proxy string) *user {
	t.Helper()
	u := &user{home: t.TempDir()}
	environment := goEnv(t, "GOMODCACHE", "GOPROXY", "GONOSUMDB")
	cache := "file://" + filepath.ToSlash(filepath.Join(environment[0], "cache", "download"))
	u.env = append(os.Environ(),
		"GOPROXY=file://"+filepath.ToSlash(proxy)+","+cache+","+environment[1],
		"GONOSUMDB="+strings.Trim(environment[2]+","+rootModule, ","),
		"GOMODCACHE="+linkedCache(t, environment[0]),
		"GOBIN="+u.home,
		"GOFLAGS=-modcacherw -trimpath", // makes builds independent of the place of the module cache
		"GOWORK=off",
	)
	return u
}

// goEnv returns variables of the go command.
func goEnv(t *testing.T, names ...string) []string {
	t.Helper()
	out, err := exec.Command("go", append([]string{"env"}, names...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(string(out), "\n")
}

// run runs a program in a directory and returns what it prints.
func (u *user) run(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, u.env
	begun := time.Now()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	t.Logf("%s %s: %v", filepath.Base(name), args[0], time.Since(begun).Round(time.Second))
	return string(out)
}

// requires adds the modules to an empty module, builds testdata/user with them and runs it. This repository has
// verified the checksums of others' modules.
func (u *user) requires(t *testing.T, clone git, modules []string) {
	dir := filepath.Join(u.home, "program")
	text, err := os.ReadFile("testdata/user/main.go")
	if err != nil {
		t.Fatal(err)
	}
	write(t, git(dir), "main.go", string(text))
	u.run(t, dir, "go", "mod", "init", "example.com/user")
	write(t, git(dir), "go.sum", do(t, clone, "grep", "-h", "", "HEAD", "--", "go.sum", "*/go.sum"))
	get := []string{"get"}
	for _, module := range modules {
		get = append(get, module+"@"+released)
	}
	u.run(t, dir, "go", get...)
	u.run(t, dir, "go", "build", "-o", "program", ".")
	got := strings.Split(strings.TrimSpace(u.run(t, dir, filepath.Join(dir, "program"), "run")), "\n")
	if got[0] != "rain in Oslo" {
		t.Errorf("the answer of the tool: want rain, got %q", got[0])
	}
	if want := "scope " + strings.TrimPrefix(released, "v"); !slices.Contains(got, want) {
		t.Errorf("want %q, got %q", want, got)
	}
	for _, module := range modules {
		if want := module + " " + released + " <nil>"; !slices.Contains(got, want) {
			t.Errorf("want %q linked, got %q", want, got)
		}
	}
}

func containsAll(all, some []string) bool {
	return !slices.ContainsFunc(some, func(s string) bool { return !slices.Contains(all, s) })
}
