package mcp

import "testing"

func TestMetaNamesFollowTheSpecification(t *testing.T) {
	for name, valid := range map[string]bool{
		"":                                  true,
		"a":                                 true,
		"progressToken":                     true,
		"a-b_c.d":                           true,
		"9":                                 true,
		"com.example/":                      true,
		"com.example/a":                     true,
		"io.modelcontextprotocol/a-b":       true,
		"a1.b-2/c":                          true,
		"-a":                                false,
		"a-":                                false,
		"a b":                               false,
		"ä":                                 false,
		"/a":                                false,
		".com/a":                            false,
		"com./a":                            false,
		"1com/a":                            false,
		"com-/a":                            false,
		"com_x/a":                           false,
		"com.example/a/b":                   false,
		"com.example/\x00":                  false,
		MetaProtocolVersion:                 true,
		MetaRelatedTask:                     true,
		MetaTraceParent:                     true,
		ExtensionTasks:                      true,
		"org.modelcontextprotocol.api/a.b.": false,
		"org.modelcontextprotocol.api/a":    false,
		"dev.mcp/a":                         false,
		"com.mcp.tools/a":                   false,
		"com.example.mcp/a":                 true,
	} {
		if err := CheckMetaName(name); (err == nil) != valid {
			t.Errorf("CheckMetaName(%q) = %v, want valid: %v", name, err, valid)
		}
	}
}

func TestExtensionNamesNeedAPrefix(t *testing.T) {
	for name, valid := range map[string]bool{
		ExtensionTasks:               true,
		"io.modelcontextprotocol/ui": true,
		"com.example/search":         true,
		"":                           false,
		"search":                     false,
		"no prefix!":                 false,
		"/search":                    false,
		"com.example/a b":            false,
		"dev.mcp/search":             false,
	} {
		if err := CheckExtensionName(name); (err == nil) != valid {
			t.Errorf("CheckExtensionName(%q) = %v, want valid: %v", name, err, valid)
		}
	}
}

func TestReservedMetaNames(t *testing.T) {
	for name, want := range map[string]bool{
		"io.modelcontextprotocol/x":      true,
		"dev.mcp/x":                      true,
		"org.modelcontextprotocol.api/x": true,
		"com.mcp.tools/x":                true,
		"com.example.mcp/x":              false,
		"mcp/x":                          false,
		"com.example/x":                  false,
		"x":                              false,
		"mcp":                            false,
		MetaProgressToken:                true,
		MetaTraceParent:                  true,
		MetaTraceState:                   true,
		MetaBaggage:                      true,
		MetaModelImmediateResponse:       true,
	} {
		if got := ReservedMetaName(name); got != want {
			t.Errorf("ReservedMetaName(%q) = %v, want %v", name, got, want)
		}
	}
}
