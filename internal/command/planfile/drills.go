package planfile

import (
	"errors"
	"fmt"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/mcpotel/mcpotel/internal/command/gameday"
	"github.com/mcpotel/mcpotel/internal/command/typing"
	"github.com/mcpotel/mcpotel/mcpclient/transport/chaos"
)

// drillFile is one alert in a plan of "mcpotel gameday". Its cause is the drill of a dashboard alert, or a list of
// faults.
type drillFile struct {
	Alert  string        `yaml:"alert"`
	As     string        `yaml:"as"`
	Faults []faultFile   `yaml:"faults"`
	Every  time.Duration `yaml:"every"`
}

// Drills parses a plan. An error about an alert names the line.
func Drills(text []byte) (all []gameday.Drill, err error) {
	var f struct {
		Alerts []drillFile `yaml:"alerts"`
	}
	if err := decodeYAML(text, &f); err != nil {
		return nil, err
	}
	var nodes struct {
		Alerts []yaml.Node `yaml:"alerts"`
	}
	if err := yaml.Unmarshal(text, &nodes); err != nil {
		return nil, plainYAML(err)
	}
	seen := map[string]bool{}
	for i, a := range f.Alerts {
		d, err := a.drill()
		if err == nil && seen[a.Alert] {
			err = fmt.Errorf("the plan contains the alert %s twice", a.Alert)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", nodes.Alerts[i].Line, err)
		}
		seen[a.Alert] = true
		all = append(all, d)
	}
	if len(all) == 0 {
		return nil, errors.New("the plan has no alerts")
	}
	return all, nil
}

// drill returns the drill that raises the alert.
func (a *drillFile) drill() (gameday.Drill, error) {
	switch {
	case a.Alert == "":
		return gameday.Drill{}, errors.New("alert is missing: want the name of the alert in your Prometheus")
	case len(a.Faults) > 0 && a.As != "":
		return gameday.Drill{}, errors.New("as and faults exclude each other: give one of them")
	case len(a.Faults) > 0:
		var faults []chaos.Fault
		for _, fault := range a.Faults {
			faults = append(faults, chaos.Fault(fault))
		}
		return gameday.Injected(a.Alert, faults, a.Every)
	case a.Every != 0:
		return gameday.Drill{}, errors.New("every is only allowed with faults")
	}
	known := a.Alert
	if a.As != "" {
		known = a.As
	}
	var names []string
	for _, d := range gameday.Drills() {
		if d.Alert == known {
			d.Alert = a.Alert
			return d, nil
		}
		names = append(names, d.Alert)
	}
	if a.As == "" {
		return gameday.Drill{}, fmt.Errorf("%s has no cause: set as to an alert of the dashboards, or list faults to "+
			"inject%s",
			a.Alert, typing.Hint(known, names))
	}
	return gameday.Drill{}, fmt.Errorf("as: the dashboards have no alert %q%s", known, typing.Hint(known, names))
}
