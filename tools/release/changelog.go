package main

import (
	"fmt"
	"strings"
	"time"
)

// changelogName is the page with the changes for users. Its first section, "## Unreleased", collects changes without a
// version; before a release its lines move to "## 0.1.0 - unreleased".
const changelogName = "CHANGELOG.md"

const (
	collecting = "## Unreleased"
	unreleased = "unreleased" // placeholder for the date
)

// dated returns the changelog with the date of a release in the heading of its section.
func dated(changelog, version string, day time.Time) (string, error) {
	heading := headingOf(version)
	switch text, ok := section(changelog, heading+unreleased); {
	case !ok:
		return "", fmt.Errorf("%s has no section %q", changelogName, heading+unreleased)
	case text == "":
		return "", fmt.Errorf("the section %q of %s is empty", heading+unreleased, changelogName)
	}
	if text, _ := section(changelog, collecting); text != "" {
		return "", fmt.Errorf("%s has lines below %q: move them to %q", changelogName, collecting, heading+unreleased)
	}
	return strings.Replace(changelog, heading+unreleased+"\n", heading+day.Format(time.DateOnly)+"\n", 1), nil
}

// notes returns the section of a version, released or not.
func notes(changelog, version string) (string, error) {
	for line := range strings.Lines(changelog) {
		if line := strings.TrimSpace(line); strings.HasPrefix(line, headingOf(version)) {
			text, _ := section(changelog, line)
			return text, nil
		}
	}
	return "", fmt.Errorf("%s has no section for %s", changelogName, version)
}

// headingOf returns the heading of a version's section, without its date.
func headingOf(version string) string { return "## " + strings.TrimPrefix(version, "v") + " - " }

// section returns the text below a heading, up to the next heading of the same level.
func section(page, heading string) (text string, ok bool) {
	_, below, ok := strings.Cut("\n"+page, "\n"+heading+"\n")
	text, _, _ = strings.Cut("\n"+below, "\n## ")
	return strings.TrimSpace(text), ok
}
