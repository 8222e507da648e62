package traceview

import "sync"

// colours is the number of colours for services in the stylesheet.
const colours = 8

// A palette assigns colours to services, in the order of their first use. A service keeps its colour.
type palette struct {
	mu    sync.Mutex
	given map[string]int // guarded by mu
}

func newPalette() *palette { return &palette{given: make(map[string]int)} }

// A service is the name of a service and the colour of its spans.
type service struct {
	Name   string
	Colour int
}

// of returns the service with this name. The empty name, and services after the first thousand, get the last colour.
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
