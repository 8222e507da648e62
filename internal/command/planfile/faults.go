package planfile

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/mcpotel/mcpotel/internal/command/typing"
	"github.com/mcpotel/mcpotel/mcpclient/transport/chaos"
)

// faultsFile is the content of a file for --chaos.
type faultsFile struct {
	Seed   uint64      `yaml:"seed"`
	Faults []faultFile `yaml:"faults"`
}

type faultFile struct {
	Kind        chaos.Kind    `yaml:"kind"`
	On          chaos.On      `yaml:"on"`
	Method      string        `yaml:"method"`
	Tool        string        `yaml:"tool"`
	Skip        int           `yaml:"skip"`
	Every       int           `yaml:"every"`
	Probability float64       `yaml:"probability"`
	Limit       int           `yaml:"limit"`
	After       time.Duration `yaml:"after"`
	For         time.Duration `yaml:"for"`
	Delay       time.Duration `yaml:"delay"`
	Jitter      time.Duration `yaml:"jitter"`
	Rate        int           `yaml:"rate"`
	Code        int           `yaml:"code"`
	RetryAfter  time.Duration `yaml:"retry_after"`
}

// Faults parses a file for --chaos. It also returns the line of each fault. An error about a fault names the line.
func Faults(text []byte) (*chaos.Plan, []int, error) {
	var f faultsFile
	if err := decodeYAML(text, &f); err != nil {
		return nil, nil, err
	}
	var nodes struct {
		Faults []yaml.Node `yaml:"faults"`
	}
	if err := yaml.Unmarshal(text, &nodes); err != nil {
		return nil, nil, plainYAML(err)
	}
	p := &chaos.Plan{Seed: f.Seed}
	lines := make([]int, len(nodes.Faults))
	for i, fault := range f.Faults {
		lines[i] = nodes.Faults[i].Line
		p.Faults = append(p.Faults, chaos.Fault(fault))
	}
	if len(p.Faults) == 0 {
		return nil, nil, errors.New("the file has no faults")
	}
	return p, lines, Placed(p.Check(), lines)
}

// Placed adds the line of the fault to an error of the plan, and suggests a similar kind for an unknown kind.
func Placed(err error, lines []int) error {
	wrong, ok := errors.AsType[*chaos.PlanError](err)
	if !ok {
		return err
	}
	var kinds []string
	for _, k := range chaos.Kinds() {
		kinds = append(kinds, string(k))
	}
	meant := ""
	if wrong.Member == "kind" && !slices.Contains(kinds, string(wrong.Kind)) {
		meant = typing.Hint(string(wrong.Kind), kinds)
	}
	return fmt.Errorf("line %d: %w%s", lines[wrong.Fault], err, meant)
}
