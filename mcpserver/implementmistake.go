package mcpserver

import (
	"fmt"
	"reflect"
	"strings"
)

// contracts are the interfaces that a handler may implement.
var contracts = []reflect.Type{
	reflect.TypeFor[Initializer](), reflect.TypeFor[Terminator](), reflect.TypeFor[ClientCapabilitiesHandler](),
	reflect.TypeFor[ToolLister](), reflect.TypeFor[ToolCaller](),
	reflect.TypeFor[ResourceLister](), reflect.TypeFor[ResourceTemplateLister](), reflect.TypeFor[ResourceReader](),
	reflect.TypeFor[ResourceSubscriber](),
	reflect.TypeFor[PromptLister](), reflect.TypeFor[PromptGetter](),
	reflect.TypeFor[Completer](), reflect.TypeFor[LevelSetter](), reflect.TypeFor[CapabilityDeclarer](),
}

// mistaken returns an error if a method of h has the name of an interface method but the server would never call it.
func mistaken(h any) error {
	t := reflect.TypeOf(h)
	for _, contract := range contracts {
		if t.Implements(contract) {
			continue
		}
		if t.Kind() != reflect.Pointer && reflect.PointerTo(t).Implements(contract) {
			return fmt.Errorf("only *%v has the methods of %s: pass a pointer", t, contract.Name())
		}
		if err := almost(t, contract); err != nil {
			return err
		}
	}
	return nil
}

// almost returns an error if t has a method with the name of one of the contract's methods, but does not implement the
// contract.
func almost(t, contract reflect.Type) error {
	var has, lacks string
	for want := range contract.Methods() {
		got, ok := t.MethodByName(want.Name)
		switch {
		case !ok:
			lacks = want.Name
		case reflect.Zero(t).MethodByName(got.Name).Type() != want.Type:
			return fmt.Errorf("its %s is not that of %s, which is %s%s", got.Name, contract.Name(), got.Name,
				strings.TrimPrefix(want.Type.String(), "func"))
		default:
			has = got.Name
		}
	}
	if has == "" {
		return nil
	}
	return half(has, lacks)
}
