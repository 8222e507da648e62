package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/mcpotel/mcpotel/mcp/skill"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/skills"
)

// listSkills lists the skills and uses none.
func listSkills(ctx context.Context, c *mcpclient.Client, _ details) error {
	for _, err := range skills.List(ctx, c) {
		if err != nil {
			return err
		}
	}
	return nil
}

// loadSkill loads each skill and its files. Their contents do not match the entries, which the client must detect.
func loadSkill(ctx context.Context, c *mcpclient.Client, _ details) error {
	for s, err := range skills.List(ctx, c) {
		if err != nil {
			return err
		}
		if err := useSkill(ctx, c, s); !errors.Is(err, skill.ErrUnverified) {
			return fmt.Errorf("got %w, want %w", err, skill.ErrUnverified)
		}
	}
	return nil
}

func useSkill(ctx context.Context, c *mcpclient.Client, s *skill.Skill) error {
	loaded, err := skills.Load(ctx, c, s)
	if err != nil {
		return err
	}
	_, err = loaded.Read(ctx, "references/FORMS.md")
	return err
}
