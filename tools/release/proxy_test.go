package main

import (
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

const rootModule = "github.com/mcpotel/mcpotel"

// proxyOf writes a module proxy with the tagged modules of a repository into a directory for GOPROXY, and returns the
// paths of the modules.
func proxyOf(t *testing.T, repository git, tags []string) (dir string, modules []string) {
	t.Helper()
	dir = t.TempDir()
	for _, tag := range tags {
		below, version := path.Split(tag)
		m := module.Version{Path: path.Join(rootModule, below), Version: version}
		writeModule(t, filepath.Join(dir, filepath.FromSlash(m.Path), "@v"), m, repository, tag)
		modules = append(modules, m.Path)
	}
	return dir, modules
}

// writeModule writes the four files of one module at one version.
func writeModule(t *testing.T, dir string, m module.Version, repository git, tag string) {
	t.Helper()
	below := path.Dir(tag)
	mod, err := repository.run("show", tag+":"+path.Join(below, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	info, err := json.Marshal(struct {
		Version string
		Time    time.Time
	}{m.Version, time.Now().UTC()})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"list": m.Version + "\n", m.Version + ".info": string(info), m.Version + ".mod": mod,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	f, err := os.Create(filepath.Join(dir, m.Version+".zip"))
	if err != nil {
		t.Fatal(err)
	}
	if below == "." {
		below = ""
	}
	if err := zip.CreateFromVCS(f, m, string(repository), tag, below); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}
