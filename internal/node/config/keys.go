package config

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"

	"adshard/fault"
	"adshard/internal/near"
)

// keys returns the keys of a configuration by the name of the struct they belong to.
func keys(of reflect.Type) map[string][]string {
	all := make(map[string][]string)
	if of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	if of.Kind() == reflect.Struct {
		all[of.String()] = keysOf(of, all)
	}
	return all
}

// keysOf returns the keys of one struct, and adds those of the structs in it to `all`.
func keysOf(of reflect.Type, all map[string][]string) (list []string) {
	for i := range of.NumField() {
		field := of.Field(i)
		key, option, _ := strings.Cut(field.Tag.Get("yaml"), ",")
		switch {
		case option == "inline" && field.Type.Kind() == reflect.Struct:
			list = append(list, keysOf(field.Type, all)...)
			continue
		case key == "" || key == "-":
			continue
		default:
			maps.Copy(all, keys(field.Type)) // nothing, unless it is a struct
		}
		list = append(list, key)
	}
	return list
}

// meant returns a question whether a similar known key was meant, or "" if there is none.
func meant(wrong string, known []string) string {
	if name := near.Name(wrong, known); name != "" {
		return fmt.Sprintf("; did you mean %s?", name)
	}
	return ""
}

// AtLines puts a line number before each fault that a Check has found: the line of the fault's key
// in the file at `path`. It leaves out keys that the file lacks or for which `given` is false.
func AtLines(path string, err error, given func(key string) bool) error {
	list, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return err
	}
	text, readErr := os.ReadFile(path)
	var file yaml.Node
	if readErr != nil || yaml.Unmarshal(text, &file) != nil || len(file.Content) == 0 {
		return err
	}
	faults := make([]error, 0, len(list.Unwrap()))
	for _, f := range list.Unwrap() {
		key := fault.FieldOf(f)
		if n := lineOf(file.Content[0], key); n > 0 && !given(key) {
			f = fmt.Errorf("%s: line %d: %w", path, n, f)
		}
		faults = append(faults, f)
	}
	return errors.Join(faults...)
}

// lineOf returns the line of a key with dots between its parts, or of the last part that the file
// has, or 0 if it has none.
func lineOf(of *yaml.Node, key string) (line int) {
	first, rest, _ := strings.Cut(key, ".")
	if of.Kind != yaml.MappingNode {
		return 0
	}
	for i := 0; i+1 < len(of.Content); i += 2 {
		if name := of.Content[i]; name.Value == first {
			return max(name.Line, lineOf(of.Content[i+1], rest))
		}
	}
	return 0
}
