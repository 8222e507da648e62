package traceview

import "sync"

// colours is how many colours for services the stylesheet has.
const colours = 8

// A palette gives services their colours, in the order in which they are first seen, and keeps to it.
type palette struct {
	mu    sync.Mutex
	given map[string]int // guarded by mu
}

func newPalette() *palette { return &palette{given: make(map[string]int)} }

// A service is one with its colour.
type service struct {
	Name   string
	Colour int
}

// of is the service of that name. That of no name has the last colour, and so have those that come after a thousand.
func (p *palette) of(name string) service {
	if name == "" {
		return service{"(no service.name)", colours - 1}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	colour, known := p.given[name]
	if !known {
		colour = len(p.given) % colours
		if len(p.given) >= 1000 {
			return service{cut(titleText, name), colours - 1}
		}
		p.given[name] = colour
	}
	return service{cut(titleText, name), colour}
}
