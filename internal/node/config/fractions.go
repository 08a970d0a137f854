package config

import (
	"encoding"
	"fmt"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"
)

// CheckWhole returns a fault if a YAML text has a number with a fraction where a whole number belongs; the YAML reader would cut
// the fraction off. `of` is the type of the value.
func CheckWhole(text []byte, of reflect.Type) error {
	var node yaml.Node
	if yaml.Unmarshal(text, &node) != nil || len(node.Content) == 0 {
		return nil // the reader says what is wrong
	}
	if faults := fractions(node.Content[0], of, nil); len(faults) > 0 {
		return &yaml.TypeError{Errors: faults}
	}
	return nil
}

// fractions appends the faults of a value and of those in it, in the form of the YAML reader's.
func fractions(n *yaml.Node, of reflect.Type, faults []string) []string {
	for of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	if p := reflect.PointerTo(of); p.Implements(reflect.TypeFor[yaml.Unmarshaler]()) || p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) {
		return faults // it reads the text itself
	}
	switch {
	case n.Kind == yaml.ScalarNode && whole(of.Kind()) && n.ShortTag() == "!!float":
		faults = append(faults, fmt.Sprintf("line %d: cannot unmarshal !!float `%s` into %s", n.Line, n.Value, of))
	case n.Kind == yaml.SequenceNode && of.Kind() == reflect.Slice:
		for _, element := range n.Content {
			faults = fractions(element, of.Elem(), faults)
		}
	case n.Kind == yaml.MappingNode && of.Kind() == reflect.Map:
		for i := 1; i < len(n.Content); i += 2 {
			faults = fractions(n.Content[i], of.Elem(), faults)
		}
	case n.Kind == yaml.MappingNode && of.Kind() == reflect.Struct:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if field, ok := fieldOf(of, n.Content[i].Value); ok {
				faults = fractions(n.Content[i+1], field, faults)
			}
		}
	}
	return faults
}

func whole(k reflect.Kind) bool { return k >= reflect.Int && k <= reflect.Uint64 }

// fieldOf returns the type of the field with a key.
func fieldOf(of reflect.Type, key string) (reflect.Type, bool) {
	for i := range of.NumField() {
		field := of.Field(i)
		name, option, _ := strings.Cut(field.Tag.Get("yaml"), ",")
		if option == "inline" && field.Type.Kind() == reflect.Struct {
			if found, ok := fieldOf(field.Type, key); ok {
				return found, true
			}
		} else if name == key {
			return field.Type, true
		}
	}
	return nil, false
}
