package main

import (
	"os"

	"github.com/spf13/pflag"

	"github.com/mcpotel/mcpotel/internal/command/planfile"
	"github.com/mcpotel/mcpotel/mcpclient"
	"github.com/mcpotel/mcpotel/mcpclient/transport"
	"github.com/mcpotel/mcpotel/mcpclient/transport/chaos"
)

// chaosFlags is the flag --chaos, which injects faults.
type chaosFlags struct{ file string }

func (c *chaosFlags) flags(f *pflag.FlagSet) {
	f.StringVar(&c.file, "chaos", "", "inject the faults of this YAML `FILE` into the connection to the server: delays, "+
		"lost, duplicate and damaged messages, errors, a busy server, a cut connection, a killed server")
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
	plan, lines, err := planfile.Faults(text)
	if err != nil {
		return nil, misuse("%s: %v", c.file, err)
	}
	broken, err := chaos.Wrap(t, plan)
	if err != nil {
		return nil, misuse("%s: %v", c.file, planfile.Placed(err, lines))
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
