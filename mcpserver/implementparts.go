package mcpserver

import (
	"errors"

	"github.com/mcpotel/mcpotel/mcp"
)

// parts are the interfaces that a handler has, nil for those that it lacks.
type parts struct {
	host
	level   LevelSetter
	declare CapabilityDeclarer
}

func partsOf(h any) *parts {
	p := &parts{}
	p.init, _ = h.(Initializer)
	p.terminate, _ = h.(Terminator)
	p.capabilities, _ = h.(ClientCapabilitiesHandler)
	p.level, _ = h.(LevelSetter)
	p.declare, _ = h.(CapabilityDeclarer)
	return p
}

func (p *parts) check() error {
	if *p == (parts{}) {
		return errors.New("it has none of the interfaces")
	}
	return nil
}

// feature returns what the handler answers and declares.
func (p *parts) feature(*Server) feature {
	var f feature
	if p.declare != nil {
		f.declare = func(c *mcp.ServerCapabilities, v mcp.Version) { p.declare.DeclareCapabilities(c, v) }
	}
	return f
}
