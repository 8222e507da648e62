package main

import (
	"errors"
	"slices"
	"strings"

	"github.com/mcpotel/mcpotel/internal/command/hostfile"
	"github.com/mcpotel/mcpotel/internal/command/typing"
)

// named returns the saved server with this name: this program's own server, or else the only server of a host.
// HOST:NAME selects the server of a host.
func named(name string) (*hostfile.Saved, error) {
	all, problems := hostfile.All()
	var found []*hostfile.Saved
	var names []string
	for _, s := range all {
		switch {
		case s.Full() == name, s.Name == name && s.Host.ID == hostfile.Own:
			return s, nil
		case s.Name == name:
			found = append(found, s)
		}
		names = append(names, s.Name)
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		slices.Sort(names)
		return nil, misuse(`no saved server %q%s; "mcpotel list" has them, "mcpotel add" saves one%s`, name,
			typing.Hint(name, slices.Compact(names)), problemText(problems))
	}
	var full []string
	for _, s := range found {
		full = append(full, s.Full())
	}
	return nil, misuse("%q is the name of several servers; want one of %s", name, strings.Join(full, ", "))
}

func problemText(problems []error) string {
	if len(problems) == 0 {
		return ""
	}
	return "\n" + errors.Join(problems...).Error()
}
