package main

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
)

// unpublished are the directories of modules that no user requires: their go.mod files get the version, but they get no
// tags.
var unpublished = []string{"benchmarks", "testenv", "tools"}

// A plan has the changes of a release. It is complete before anything is changed.
type plan struct {
	repository git
	version    string
	branch     string
	files      map[string][]byte // new content, by path below the root
	tags       []string          // the root module's tag is the first
}

// newPlan refuses a release that would have to be withdrawn, because the module proxy keeps every version it has seen.
func newPlan(repository git, version string, day time.Time) (*plan, error) {
	p := &plan{repository: repository, version: version, files: map[string][]byte{}}
	if semver.Canonical(version) != version {
		return nil, fmt.Errorf("%q is not a version such as v0.1.0", version)
	}
	changed, err := repository.run("status", "--porcelain")
	if err != nil {
		return nil, err
	}
	if changed != "" {
		return nil, fmt.Errorf("commit these changes first:\n%s", changed)
	}
	if p.branch, err = repository.line("symbolic-ref", "--short", "HEAD"); err != nil {
		return nil, err
	}
	if err := p.addModules(); err != nil {
		return nil, err
	}
	if err := p.checkTags(); err != nil {
		return nil, err
	}
	if err := p.addScopeVersion(); err != nil {
		return nil, err
	}
	return p, p.addChangelog(day)
}

func (p *plan) file(name string) string {
	return filepath.Join(string(p.repository), filepath.FromSlash(name))
}

// addModules plans the tags, and the go.mod files with the version.
func (p *plan) addModules() error {
	names, err := p.repository.lines("ls-files", "--", "go.mod", "*/go.mod")
	if err != nil {
		return err
	}
	files, published := map[string]*modfile.File{}, map[string]bool{}
	for _, name := range names {
		text, err := os.ReadFile(p.file(name))
		if err != nil {
			return err
		}
		f, err := modfile.Parse(name, text, nil)
		if err != nil {
			return err
		}
		files[name] = f
		dir := path.Dir(name)
		if top, _, _ := strings.Cut(dir, "/"); slices.Contains(unpublished, top) {
			continue
		}
		if err := module.Check(f.Module.Mod.Path, p.version); err != nil {
			return err
		}
		published[f.Module.Mod.Path] = true
		p.tags = append(p.tags, path.Join(dir, p.version))
	}
	slices.SortStableFunc(p.tags, func(a, b string) int { return strings.Count(a, "/") - strings.Count(b, "/") })
	for name, f := range files {
		if err := p.addRequirements(name, f, published); err != nil {
			return err
		}
	}
	return nil
}

// addRequirements plans that a module requires the version of the modules that are published with it.
func (p *plan) addRequirements(name string, f *modfile.File, published map[string]bool) error {
	changed := false
	for _, r := range f.Require {
		if !published[r.Mod.Path] {
			continue
		}
		if err := f.AddRequire(r.Mod.Path, p.version); err != nil {
			return err
		}
		changed = true
	}
	if changed {
		p.files[name] = modfile.Format(f.Syntax)
	}
	return nil
}

// scopeVersionName is the file with the constant that is the version of the instrumentation scope and of the
// User-Agent.
const scopeVersionName = "internal/version/version.go"

var scopeVersion = regexp.MustCompile(`(?m)^const Version = ".*"$`)

// addScopeVersion plans the constant.
func (p *plan) addScopeVersion() error {
	text, err := os.ReadFile(p.file(scopeVersionName))
	if err != nil {
		return err
	}
	if n := len(scopeVersion.FindAll(text, -1)); n != 1 {
		return fmt.Errorf("%s has %d lines such as const Version = \"0.1.0\", want one", scopeVersionName, n)
	}
	line := fmt.Sprintf("const Version = %q", strings.TrimPrefix(p.version, "v"))
	p.files[scopeVersionName] = scopeVersion.ReplaceAllLiteral(text, []byte(line))
	return nil
}

// addChangelog plans the date in the changelog.
func (p *plan) addChangelog(day time.Time) error {
	changelog, err := os.ReadFile(p.file(changelogName))
	if err != nil {
		return err
	}
	text, err := dated(string(changelog), p.version, day)
	p.files[changelogName] = []byte(text)
	return err
}

// checkTags refuses a version that is not higher than the existing tags.
func (p *plan) checkTags() error {
	tags, err := p.repository.lines("tag", "--list")
	if err != nil {
		return err
	}
	for _, tag := range tags {
		if semver.IsValid(tag) && semver.Compare(p.version, tag) <= 0 {
			return fmt.Errorf("%s is not higher than %s", p.version, tag)
		}
		if slices.Contains(p.tags, tag) {
			return fmt.Errorf("tag %s already exists", tag)
		}
	}
	return nil
}

// carryOut writes the files, commits them and makes the tags.
func (p *plan) carryOut() error {
	names := slices.Sorted(maps.Keys(p.files))
	for _, name := range names {
		if err := os.WriteFile(p.file(name), p.files[name], 0o644); err != nil {
			return err
		}
	}
	commit := []string{"commit", "--quiet", "-m", "release: " + p.version, "-m",
		"The modules require each other at this version, the scope of the telemetry has it, and the changelog has its date.",
		"--"}
	if _, err := p.repository.run(append(commit, names...)...); err != nil {
		return err
	}
	for _, tag := range p.tags {
		if _, err := p.repository.run("tag", "-a", "-m", tag, tag); err != nil {
			return err
		}
	}
	return nil
}

// print writes the changes and the commands to push them. The root module's tag goes first, alone, because GitHub
// starts no workflow for a push of more than three tags.
func (p *plan) print(out io.Writer, head string) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s on %s\n\nfiles\n", p.version, p.branch)
	for _, name := range slices.Sorted(maps.Keys(p.files)) {
		fmt.Fprintf(&b, "  %s\n", name)
	}
	fmt.Fprintf(&b, "tags\n  %s\n\n%s\n\n", strings.Join(p.tags, "\n  "), head)
	fmt.Fprintf(&b, "  git push --atomic origin %s %s\n", p.branch, p.tags[0])
	if len(p.tags) > 1 {
		fmt.Fprintf(&b, "  git push --atomic origin %s\n", strings.Join(p.tags[1:], " "))
	}
	_, _ = out.Write(b.Bytes())
}
