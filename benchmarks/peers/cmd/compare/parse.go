package main

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/perf/benchfmt"
)

// measurements are all figures of a run.
type measurements struct {
	about  map[string]string // the configuration lines, see about
	loads  []float64         // by pass
	passes int
	cases  []*benchCase // in the order of measurement
}

// benchCase is a case for all peers: a benchmark's name without the peer, as in "Roundtrip/transport=stdio/size=200B".
type benchCase struct {
	name    string
	peers   []string // in the order of measurement
	figures map[figure]series
}

// figure is one metric of one peer, in the benchmark's own unit.
type figure struct{ peer, unit string }

// series are the values of a figure, by pass. NaN stands for a pass without a value.
type series []float64

// series returns the values of a figure, and false without any.
func (c *benchCase) series(peer, unit string) (series, bool) {
	s, ok := c.figures[figure{peer, unit}]
	return s, ok
}

// has reports whether a peer took part.
func (c *benchCase) has(peer string) bool { return slices.Contains(c.peers, peer) }

// rest returns the name without the benchmark function.
func (c *benchCase) rest() string {
	_, rest, _ := strings.Cut(c.name, "/")
	return rest
}

var errNoBenchmark = errors.New("no benchmark has run")

// parse reads lines in the benchmark format.
func parse(lines []byte) (*measurements, error) {
	m := &measurements{about: map[string]string{}}
	byName, loads := map[string]*benchCase{}, map[int]float64{}
	r := benchfmt.NewReader(bytes.NewReader(lines), "")
	for r.Scan() {
		switch rec := r.Result().(type) {
		case *benchfmt.SyntaxError:
			return nil, rec
		case *benchfmt.Result:
			pass, err := m.configure(rec)
			if err != nil {
				return nil, err
			}
			if l, err := strconv.ParseFloat(rec.GetConfig("load"), 64); err == nil {
				loads[pass] = l
			}
			name, peer := split(rec.Name)
			c := byName[name]
			if c == nil {
				c = &benchCase{name: name, figures: map[figure]series{}}
				byName[name], m.cases = c, append(m.cases, c)
			}
			if err := c.add(peer, pass, rec.Values); err != nil {
				return nil, err
			}
		}
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	if len(m.cases) == 0 {
		return nil, errNoBenchmark
	}
	for _, c := range m.cases {
		for f, s := range c.figures {
			c.figures[f] = s.upTo(m.passes)
		}
	}
	for pass := range m.passes {
		if l, ok := loads[pass]; ok {
			m.loads = append(m.loads, l)
		}
	}
	return m, nil
}

// configure stores the configuration of a result and returns the number of the result's pass, from 0.
func (m *measurements) configure(r *benchfmt.Result) (pass int, err error) {
	for _, c := range r.Config {
		m.about[c.Key] = string(c.Value)
	}
	n, err := strconv.Atoi(r.GetConfig("pass"))
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%s: the configuration does not contain the pass", r.Name)
	}
	m.passes = max(m.passes, n)
	return n - 1, nil
}

// split separates a benchmark's name and its peer: the value of peer=, or else a last element without a key, or else
// ours.
func split(name benchfmt.Name) (rest, peer string) {
	base, parts := name.Parts()
	elements := []string{string(base)}
	peer = ours
	for i, p := range parts {
		s := string(p)
		value, isPeer := strings.CutPrefix(s, "/peer=")
		switch {
		case strings.HasPrefix(s, "-"): // GOMAXPROCS
		case isPeer:
			peer = value
		case i == lastElement(parts) && !strings.Contains(s, "="):
			peer = s[1:]
		default:
			elements = append(elements, s[1:])
		}
	}
	return strings.Join(elements, "/"), peer
}

func lastElement(parts [][]byte) int {
	n := len(parts) - 1
	if n >= 0 && parts[n][0] == '-' {
		n--
	}
	return n
}

func (c *benchCase) add(peer string, pass int, values []benchfmt.Value) error {
	if !c.has(peer) {
		c.peers = append(c.peers, peer)
	}
	for _, v := range values {
		value, unit := v.Value, v.Unit
		if v.OrigUnit != "" { // benchfmt converts nanoseconds to seconds
			value, unit = v.OrigValue, v.OrigUnit
		}
		f := figure{peer, unit}
		s := c.figures[f].upTo(pass + 1)
		if !math.IsNaN(s[pass]) {
			return fmt.Errorf("%s/peer=%s was measured twice in pass %d", c.name, peer, pass+1)
		}
		s[pass] = value
		c.figures[f] = s
	}
	return nil
}

// upTo returns a series of at least n passes.
func (s series) upTo(n int) series {
	for len(s) < n {
		s = append(s, math.NaN())
	}
	return s
}
