//go:build unix

package main

import (
	"archive/zip"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// version is the version of the modules that the pages fetch: the one that the nested modules require.
const version = "v0.0.0"

// published are the modules that the pages fetch, by their folder.
var published = map[string]string{
	".":                    "github.com/mcpotel/mcpotel",
	"mcpserver/redisstore": "github.com/mcpotel/mcpotel/mcpserver/redisstore",
}

// publish writes the modules of a checkout into a directory that is a module proxy.
func publish(proxy, checkout string, files []string) error {
	var nested []string // folders of modules
	for _, f := range files {
		if dir := filepath.Dir(f); filepath.Base(f) == "go.mod" && dir != "." {
			nested = append(nested, dir)
		}
	}
	for folder, module := range published {
		of := func(f string) bool {
			inside := func(dir string) bool { return strings.HasPrefix(f, dir+"/") }
			return inside(folder) || folder == "." && !slices.ContainsFunc(nested, inside)
		}
		if err := publishModule(filepath.Join(proxy, module, "@v"), module, filepath.Join(checkout, folder), folder,
			slices.DeleteFunc(slices.Clone(files), func(f string) bool { return !of(f) })); err != nil {
			return err
		}
	}
	return nil
}

// publishModule writes the files of a version in a module proxy. (go.dev/ref/mod#goproxy-protocol)
func publishModule(dir, module, source, folder string, files []string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	mod, err := os.ReadFile(filepath.Join(source, "go.mod"))
	if err != nil {
		return err
	}
	for name, text := range map[string]string{
		"list": version + "\n", version + ".info": `{"Version":"` + version + `"}`, version + ".mod": string(mod),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	out, err := os.Create(filepath.Join(dir, version+".zip"))
	if err != nil {
		return err
	}
	defer out.Close()
	archive := zip.NewWriter(out)
	for _, f := range files {
		name := strings.TrimPrefix(f, folder+"/")
		if err := add(archive, module+"@"+version+"/"+name, filepath.Join(source, name)); err != nil {
			return err
		}
	}
	return archive.Close()
}

// add adds a file to an archive, without compressing it.
func add(archive *zip.Writer, name, file string) error {
	in, err := os.Open(file)
	if err != nil {
		return err
	}
	defer in.Close()
	to, err := archive.CreateHeader(&zip.FileHeader{Name: name})
	if err != nil {
		return err
	}
	_, err = io.Copy(to, in)
	return err
}
