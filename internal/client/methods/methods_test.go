package methods

import (
	"slices"
	"testing"

	"github.com/mcpotel/mcpotel/mcp"
)

// Every method of the protocol must be classified.
func TestEveryMethodIsClassifiedAsHarmlessOrNot(t *testing.T) {
	effective := []string{mcp.MethodCallTool, mcp.MethodUpdateTask}
	for m := range mcp.Methods() {
		if m.Kind == mcp.KindRequest && m.Sender&mcp.FromClient != 0 &&
			Harmless(m.Name) == slices.Contains(effective, m.Name) {
			t.Errorf("%s: Harmless is %v, want the opposite", m.Name, Harmless(m.Name))
		}
	}
}
