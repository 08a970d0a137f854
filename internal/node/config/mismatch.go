package config

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

var (
	// onLine matches a fault on a line that the YAML reader, or a type of this program, reports. Like mismatch, it is used only for
	// messages.
	onLine = regexp.MustCompile(`^line (\d+): (.*)$`)
	// mismatch matches the YAML reader's report of a value that does not fit the type of its field.
	mismatch = regexp.MustCompile("^cannot unmarshal !!(\\w+) (?:`.*` )?into (\\S+)$")
)

// keyed rewrites a fault of a value so that it names the key, the value as the file has it, and an example of a value that fits.
func keyed(text string, file *yaml.Node) string {
	m := onLine.FindStringSubmatch(text)
	if m == nil {
		return text
	}
	line, _ := strconv.Atoi(m[1])
	tag, what := "", m[2]
	of := mismatch.FindStringSubmatch(what)
	if of != nil {
		tag = "!!" + of[1]
	}
	key, value := valueAt(file, "", line, tag)
	if key == "" {
		return text
	}
	if of != nil {
		what = said(value) + " " + expected(of[2])
	}
	return fmt.Sprintf("line %d: %s: %s", line, key, what)
}

// valueAt returns the first value on a line, of a tag if one is given, and its key with dots between the parts. It returns "" and nil if
// there is no such value.
func valueAt(of *yaml.Node, key string, line int, tag string) (string, *yaml.Node) {
	if of.Line == line && key != "" && (tag == "" && of.Kind == yaml.ScalarNode || of.ShortTag() == tag) {
		return key, of
	}
	for i, n := range of.Content {
		below := key
		if of.Kind == yaml.MappingNode {
			if i%2 == 0 {
				continue // a key
			}
			below = strings.TrimPrefix(key+"."+of.Content[i-1].Value, ".")
		}
		if found, value := valueAt(n, below, line, tag); value != nil {
			return found, value
		}
	}
	return "", nil
}

func said(value *yaml.Node) string {
	switch value.Kind {
	case yaml.MappingNode:
		return "a group of keys"
	case yaml.SequenceNode:
		return "a list"
	default:
		return strconv.Quote(value.Value)
	}
}

// expected says that a value is not of a Go type, with an example of one that is.
func expected(typ string) string {
	typ = strings.TrimLeft(typ, "*")
	switch {
	case typ == "time.Duration":
		return "is not a duration: write 10s, 1m30s or 250ms"
	case strings.HasPrefix(typ, "int"), strings.HasPrefix(typ, "uint"):
		return "is not a whole number within its bounds: write 8"
	case strings.HasPrefix(typ, "float"):
		return "is not a number: write 0.5"
	case typ == "bool":
		return "is neither true nor false"
	case typ == "string":
		return "is not one text: write it on one line, in quotes if it has a colon"
	case strings.HasPrefix(typ, "[]"):
		return "is not a list: write [a, b]"
	default:
		return "is not a group of keys: write each on a line of its own below it, indented"
	}
}
