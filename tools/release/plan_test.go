package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// changelogOfOne is a changelog before the release of v0.1.0.
const changelogOfOne = "# Changelog\n\n## Unreleased\n\n## 0.1.0 - unreleased\n\n- a client\n"

// repositoryOf creates a repository on branch main, with a commit of a root module, a published and an unpublished
// nested module, and the files of the test.
func repositoryOf(t *testing.T, files map[string]string) git {
	t.Helper()
	r := git(t.TempDir())
	do(t, r, "init", "--quiet", "--initial-branch=main")
	do(t, r, "config", "user.name", "release")
	do(t, r, "config", "user.email", "release@example.com")
	do(t, r, "config", "commit.gpgSign", "false")
	do(t, r, "config", "tag.gpgSign", "false")
	write(t, r, "go.mod", "module example.com/m\n\ngo 1.26\n")
	write(t, r, "adapters/a/go.mod", "module example.com/m/adapters/a\n\ngo 1.26\n\nrequire (\n"+
		"\texample.com/m v0.0.0 // the telemetry\n\texample.com/other v1.2.3\n)\n\nreplace example.com/m => ../..\n")
	write(t, r, "tools/go.mod", "module example.com/m/tools\n\ngo 1.26\n\nrequire example.com/m/adapters/a v0.0.0\n")
	write(t, r, changelogName, changelogOfOne)
	write(t, r, scopeVersionName, scopeVersionOf("0.1.0-dev"))
	for name, text := range files {
		write(t, r, name, text)
	}
	do(t, r, "add", "-A")
	do(t, r, "commit", "--quiet", "-m", "all")
	return r
}

// scopeVersionOf returns the file with the version of the instrumentation scope.
func scopeVersionOf(version string) string {
	return "package telemetry\n\n// Version is the version.\nconst Version = \"" + version + "\"\n"
}

func do(t *testing.T, r git, args ...string) string {
	t.Helper()
	out, err := r.run(args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func write(t *testing.T, r git, name, text string) {
	t.Helper()
	file := filepath.Join(string(r), filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestReleaseCommitsAndTagsEachModule(t *testing.T) {
	r := repositoryOf(t, nil)
	var out strings.Builder
	if err := release(string(r), "v0.1.0", false, &out); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"adapters/a/go.mod": "module example.com/m/adapters/a\n\ngo 1.26\n\nrequire (\n" +
			"\texample.com/m v0.1.0 // the telemetry\n\texample.com/other v1.2.3\n)\n\nreplace example.com/m => ../..\n",
		"tools/go.mod": "module example.com/m/tools\n\ngo 1.26\n\nrequire example.com/m/adapters/a v0.1.0\n",
		changelogName: "# Changelog\n\n## Unreleased\n\n## 0.1.0 - " + time.Now().UTC().Format(time.DateOnly) +
			"\n\n- a client\n",
		scopeVersionName: scopeVersionOf("0.1.0"),
	} {
		if got := do(t, r, "show", "adapters/a/v0.1.0:"+name); got != want {
			t.Errorf("%s: want\n%s\ngot\n%s", name, want, got)
		}
	}
	if got, want := do(t, r, "tag", "--points-at", "HEAD"), "adapters/a/v0.1.0\nv0.1.0\n"; got != want {
		t.Errorf("tags of the commit: want %q, got %q", want, got)
	}
	if got := do(t, r, "status", "--porcelain"); got != "" {
		t.Errorf("want nothing left to commit, got %s", got)
	}
	for _, want := range []string{
		"git push --atomic origin main v0.1.0\n", "git push --atomic origin adapters/a/v0.1.0\n", "Nothing was pushed",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("want %q printed, got:\n%s", want, &out)
		}
	}
}

func TestADryRunChangesNothing(t *testing.T) {
	r := repositoryOf(t, nil)
	head := do(t, r, "rev-parse", "HEAD")
	var out strings.Builder
	if err := release(string(r), "v0.1.0", true, &out); err != nil {
		t.Fatal(err)
	}
	if got := do(t, r, "rev-parse", "HEAD") + do(t, r, "status", "--porcelain") + do(t, r, "tag", "--list"); got != head {
		t.Errorf("want the commit, no changes and no tags, got %s", got)
	}
	want := "v0.1.0 on main\n\nfiles\n  CHANGELOG.md\n  adapters/a/go.mod\n  " + scopeVersionName + "\n  tools/go.mod\n" +
		"tags\n  v0.1.0\n  adapters/a/v0.1.0\n\nThis was a dry run."
	if !strings.HasPrefix(out.String(), want) {
		t.Errorf("want printed\n%s\ngot\n%s", want, &out)
	}
}

func TestInvalidReleaseIsRefused(t *testing.T) {
	const empty = "## Unreleased\n\n## 0.1.0 - unreleased\n\n## 0.0.1 - 2026-01-01\n- x\n"
	const forgotten = "## Unreleased\n- y\n\n## 0.1.0 - unreleased\n- x\n"
	for name, tc := range map[string]struct {
		version string
		files   map[string]string
		before  func(t *testing.T, r git)
		want    string // part of the error
	}{
		"no version":      {"0.1.0", nil, nil, `"0.1.0" is not a version`},
		"a short version": {"v0.1", nil, nil, `"v0.1" is not a version`},
		"a version of another module path": {"v2.0.0", nil, nil,
			"should be v0 or v1, not v2"},
		"a file that git does not know": {"v0.1.0", nil, func(t *testing.T, r git) { write(t, r, "new.go", "package m\n") },
			"commit these changes first:\n?? new.go"},
		"no branch": {"v0.1.0", nil, func(t *testing.T, r git) { do(t, r, "checkout", "--quiet", "--detach") },
			"not a symbolic ref"},
		"a version that there is": {"v0.1.0", nil, func(t *testing.T, r git) { do(t, r, "tag", "v0.1.0") },
			"v0.1.0 is not higher than v0.1.0"},
		"a lower version": {"v0.1.0", nil, func(t *testing.T, r git) { do(t, r, "tag", "v0.10.0") },
			"v0.1.0 is not higher than v0.10.0"},
		"a version that a module has": {"v0.1.0", nil, func(t *testing.T, r git) { do(t, r, "tag", "adapters/a/v0.1.0") },
			"tag adapters/a/v0.1.0 already exists"},
		"nothing in the changelog": {"v0.2.0", nil, nil, `no section "## 0.2.0 - unreleased"`},
		"an empty section":         {"v0.1.0", map[string]string{changelogName: empty}, nil, "is empty"},
		"no version of the scope": {"v0.1.0", map[string]string{scopeVersionName: "package telemetry\n"}, nil,
			"has 0 lines such as"},
		"lines that have no version": {"v0.1.0", map[string]string{changelogName: forgotten}, nil,
			`lines below "## Unreleased"`},
	} {
		t.Run(name, func(t *testing.T) {
			r := repositoryOf(t, tc.files)
			if tc.before != nil {
				tc.before(t, r)
			}
			head, tags := do(t, r, "rev-parse", "HEAD"), do(t, r, "tag", "--list")
			err := release(string(r), tc.version, false, io.Discard)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("want an error with %q, got %v", tc.want, err)
			}
			if got := do(t, r, "rev-parse", "HEAD") + do(t, r, "tag", "--list"); got != head+tags {
				t.Errorf("want the commit and tags as before, %s, got %s", head+tags, got)
			}
		})
	}
}

func TestReleaseNotesAreTheChangelogSection(t *testing.T) {
	r := repositoryOf(t, map[string]string{
		changelogName: changelogOfOne + "\n### Client\n\n- more\n\n## 0.0.1 - 2026-01-01\n\n- less\n",
	})
	for version, want := range map[string]string{
		"v0.1.0": "- a client\n\n### Client\n\n- more\n", "v0.0.1": "- less\n",
	} {
		var out strings.Builder
		if err := printNotes(string(r), version, &out); err != nil || out.String() != want {
			t.Errorf("%s: want %q, got %q, %v", version, want, &out, err)
		}
	}
	if err := printNotes(string(r), "v0.1", io.Discard); err == nil {
		t.Error("v0.1: want an error, since there is no such version")
	}
}
