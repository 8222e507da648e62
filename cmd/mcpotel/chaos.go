package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"github.com/mcpotel/mcpotel/internal/command/typing"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpclient/transport/chaos"
)

// chaosFlags is the flag for faults that are injected on purpose.
type chaosFlags struct{ file string }

func (c *chaosFlags) flags(f *pflag.FlagSet) {
	f.StringVar(&c.file, "chaos", "", "inject the faults of this YAML `FILE` into the connection to the server: "+
		"delays, lost, doubled and damaged messages, errors, a busy server, a cut connection, a killed server")
}

// wrap returns t with the faults of the file, or t itself without a file.
func (c *chaosFlags) wrap(t transport.Transport) (transport.Transport, error) {
	if c.file == "" {
		return t, nil
	}
	text, err := os.ReadFile(c.file)
	if err != nil {
		return nil, misuse("%v", err)
	}
	plan, lines, err := parsePlan(text)
	if err != nil {
		return nil, misuse("%s: %v", c.file, err)
	}
	broken, err := chaos.Wrap(t, plan)
	if err != nil {
		return nil, misuse("%s: %v", c.file, placed(err, lines))
	}
	return broken, nil
}

// wrapAll wraps the transport of each member. Each member counts its faults separately.
func (c *chaosFlags) wrapAll(members ...*mcpclient.Member) error {
	for _, m := range members {
		var err error
		if m.Transport, err = c.wrap(m.Transport); err != nil {
			return err
		}
	}
	return nil
}

// planFile is the content of a file for --chaos.
type planFile struct {
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

// parsePlan parses a file for --chaos. It also returns the line of each fault. An error about a fault names the line.
func parsePlan(text []byte) (*chaos.Plan, []int, error) {
	var f planFile
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
	return p, lines, placed(p.Check(), lines)
}

// placed adds the line of the fault to a plan error, and suggests a similar kind if the kind is unknown.
func placed(err error, lines []int) error {
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
