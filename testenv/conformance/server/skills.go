package main

import (
	"embed"
	"errors"
	"io/fs"

	"github.com/mcpotel/mcpotel/mcpserver"
	"github.com/mcpotel/mcpotel/mcpserver/skills"
)

//go:embed skills
var skillFiles embed.FS

func addSkills(s *mcpserver.Server) error {
	catalog, err := skills.Serve(s)
	if err != nil {
		return err
	}
	pdf, err := fs.Sub(skillFiles, "skills/pdf-processing")
	return errors.Join(err, catalog.Add("pdf-processing", pdf))
}
