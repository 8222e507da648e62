package main

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/mcpotel/mcpotel/mcp"
)

// roots are the directories in which servers may work.
type roots []*mcp.Root

// add adds a directory by its path.
func (r *roots) add(path string) error {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	info, err := os.Stat(absolute)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is no directory", path)
	}
	slashed := filepath.ToSlash(absolute)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed // C:/work
	}
	u := url.URL{Scheme: "file", Path: slashed}
	*r = append(*r, &mcp.Root{URI: u.String(), Name: filepath.Base(absolute)})
	return nil
}
